#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd::test;

TEST_CASE("safari: bad input is refused or counted") {
  const auto recording = [](const std::string& members) { return R"({"recording":{)" + members + "}}"; };
  const std::string sample =
      R"("sampleStackTraces":[{"timestamp":1,"stackFrames":[{"name":"f","line":1e99}]}])";
  check_bad_inputs(
      "safari",
      {
          {"an array", "[]", "error malformed: expected an object"},
          {"no recording", "{}", "error malformed: no recording"},
          {"no samples", recording(R"("sampleStackTraces":[])"), "error malformed: no samples of scripts"},
          {"cut short", R"({"recording":{"sampleStackTraces":[{"timest)", "error truncated: ends"},
          {"a time out of range", recording(R"("sampleStackTraces":[{"timestamp":1e300}])"),
           "error malformed: out of range"},
          {"no durations", recording(sample), "report no-durations"},
          {"more durations than samples", recording(sample + R"(,"sampleDurations":[1,2])"),
           "report sample-without-duration"},
          {"records", recording(sample + R"(,"records":[{}])"), "report record"},
      });
}
