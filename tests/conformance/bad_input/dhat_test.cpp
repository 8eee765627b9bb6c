#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("dhat: bad input is refused or counted") {
  const auto file = [](const std::string& points, const std::string& frames = "\"[root]\",\"f\"") {
    return R"({"dhatFileVersion":2,"mode":"heap","pps":[)" + points + R"(],"ftbl":[)" + frames + "]}";
  };
  check_bad_inputs(
      "dhat",
      {
          {"another file", "hello\n", "error malformed: "},
          {"another version", R"({"dhatFileVersion":3,"pps":[],"ftbl":[]})", "error unsupported: version 3"},
          {"no version", R"({"pps":[],"ftbl":[]})", "error unsupported: version"},
          {"no points", R"({"dhatFileVersion":2,"ftbl":[]})", "error malformed: pps"},
          {"no frames", R"({"dhatFileVersion":2,"pps":[]})", "error malformed: ftbl"},
          {"cut off", R"({"dhatFileVersion":2,"pps":[{"tb":1)", "error truncated: "},
          {"a frame past the table", file(R"({"tb":1,"tbk":1,"fs":[2]})"), "error malformed: frame 2"},
          {"a frame below zero", file(R"({"tb":1,"tbk":1,"fs":[-1]})"), "error malformed: frame -1"},
          {"text for a count", file(R"({"tb":"x","fs":[1]})"), "error malformed: "},
          {"a count above int64", file(R"({"tb":9223372036854775808,"fs":[1]})"), "error malformed: "},
          {"a frame that is no text", file(R"({"tb":1,"fs":[1]})", "1"), "error malformed: "},
          {"no program points", file(""), "report no-samples"},
      });
}
