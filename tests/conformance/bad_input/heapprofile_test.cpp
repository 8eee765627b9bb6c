#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("heapprofile: bad input is refused or counted") {
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += R"({"selfSize":1,"children":[)";
  check_bad_inputs(
      "heapprofile",
      {
          {"an array", "[]", "error malformed: expected an object"},
          {"no head", "{}", "error malformed: no head"},
          {"cut short", R"({"head":{"selfSize":1,"children":[{"selfSize":2)", "error truncated: ends"},
          {"a size that is a word", R"({"head":{"selfSize":"big"}})", "error malformed: expected a number"},
          {"a negative size", R"({"head":{"selfSize":-1}})", "error malformed: negative"},
          {"a sample of a missing node",
           R"({"head":{"selfSize":1,"id":1},"samples":[{"size":1,"nodeId":2}]})",
           "report sample-without-node"},
          {"equal ids", R"({"head":{"selfSize":1,"id":1,"children":[{"id":1}]},"samples":[]})",
           "error malformed: occurs twice"},
          {"too deep", R"({"head":)" + deep, "error limit: nesting"},
          {"samples that do not add up",
           R"({"head":{"selfSize":3,"id":1},"samples":[{"size":1,"nodeId":1}]})", "report samples-differ"},
      });
}

TEST_CASE("heapprofile: a tree 30,000 deep is read") {
  std::string text = R"({"head":)";
  for (int i = 0; i < 30000; ++i) text += R"({"callFrame":{"functionName":"f"},"selfSize":1,"children":[)";
  for (int i = 0; i < 30000; ++i) text += "]}";
  OpenOptions options;
  options.format = "heapprofile";
  const auto opened = open_hidden(text + "}", options);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->tree().size() == 30001);
}
