#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string processed(const std::string& thread, const std::string& meta = "") {
  return R"({"meta":{"interval":1,"version":29,"preprocessedProfileVersion":50)" + meta +
         R"(},"libs":[],"threads":[{)" + thread + "}]}";
}

std::string tables(const std::string& stacks, const std::string& samples, const std::string& more = "") {
  return R"("stringArray":["a"],"funcTable":{"name":[0]},"frameTable":{"func":[0]},"stackTable":{)" + stacks +
         R"(},"samples":{)" + samples + "}" + more;
}

std::string gecko(const std::string& frames, const std::string& samples) {
  return R"({"meta":{"interval":1,"version":9,"processType":0},"libs":[],"threads":[{"name":"t","frameTable":{"schema":{"location":0},"data":[)" +
         frames +
         R"(]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"stringTable":["a"],)" +
         R"("samples":{"schema":{"stack":0,"time":1},"data":[)" + samples + "]}}]}";
}

}  // namespace

TEST_CASE("firefox: bad input is refused or counted") {
  const std::string one_stack = R"("frame":[0],"prefix":[null])", one_sample = R"("stack":[0],"time":[1])";
  check_bad_inputs(
      "firefox",
      {
          {"an array", "[]", "error malformed: expected an object"},
          {"an object of something else", "{}", "error malformed: neither meta nor threads"},
          {"no threads", R"({"meta":{"preprocessedProfileVersion":50}})", "error malformed: no threads"},
          {"threads without samples", processed(""),
           "error malformed: no thread of the profile has a sample"},
          {"a name that is missing",
           processed(
               R"("stringArray":[],"funcTable":{"name":[3]},"frameTable":{"func":[0]},"stackTable":{"frame":[0],"prefix":[null]})"),
           "error malformed: a name that is not in the file"},
          {"a function that is missing",
           processed(
               R"("stringArray":["a"],"funcTable":{"name":[0]},"frameTable":{"func":[7]},"stackTable":{"frame":[0],"prefix":[null]})"),
           "error malformed: a function that is not in the file"},
          {"a frame that is missing", processed(tables(R"("frame":[4],"prefix":[null])", one_sample)),
           "error malformed: a frame that is not in the file"},
          {"a stack that calls itself", processed(tables(R"("frame":[0],"prefix":[0])", one_sample)),
           "error malformed: before its caller"},
          {"an offset before the table", processed(tables(R"("frame":[0],"prefixOffset":[1])", one_sample)),
           "error malformed: before its caller"},
          {"a stack that is missing", processed(tables(one_stack, R"("stack":[5],"time":[1])")),
           "error malformed: names stack 5"},
          {"a time out of range", processed(tables(one_stack, R"("stack":[0],"time":[1e300])")),
           "error malformed: out of range"},
          {"cut short", processed(tables(one_stack, one_sample)).substr(0, 150), "error truncated: ends"},
          {"a gecko frame without a location", gecko("[9]", "[0,1]"),
           "error malformed: a location that is not in the file"},
          {"a gecko sample without its stack", gecko("[0]", "[3,1]"), "error malformed: names stack 3"},
          {"a gecko sample of no stack", gecko("[0]", "[0,1],[null,2]"), "report sample-without-stack"},
          {"a sample of no stack", processed(tables(one_stack, R"("stack":[0,null],"time":[1,2])")),
           "report sample-without-stack"},
          {"a newer version",
           R"({"meta":{"interval":1,"preprocessedProfileVersion":99},"libs":[],"threads":[{)" +
               tables(one_stack, one_sample) + "}]}",
           "report newer-version"},
          {"fractional weights", processed(tables(one_stack, one_sample + R"(,"weight":[1.5])")),
           "report rounded-weight"},
          {"weights too large",
           R"({"meta":{"interval":1e9,"preprocessedProfileVersion":50},"libs":[],"threads":[{)" +
               tables(one_stack, one_sample + R"(,"weight":[9223372036854775807])") + "}]}",
           "report value-too-large"},
          {"a marker without a time", processed(tables(one_stack, one_sample, R"(,"markers":{"name":[0]})")),
           "report marker-without-time"},
          {"an end of a marker that never began",
           processed(tables(one_stack, one_sample, R"(,"markers":{"name":[0],"endTime":[3],"phase":[3]})")),
           "report marker-without-start"},
          {"a marker with fields that nest",
           processed(tables(one_stack, one_sample,
                            R"(,"markers":{"name":[0],"startTime":[3],"phase":[0],"data":[{"a":[1]}]})")),
           "report marker-field"},
          {"a time of a marker that is out of range",
           processed(tables(one_stack, one_sample, R"(,"markers":{"name":[0],"startTime":[1e300]})")),
           "error malformed: out of range"},
      });
}

TEST_CASE("firefox: a stack deeper than the limit is refused") {
  std::string frames = "0", prefixes = "null";
  for (int i = 0; i < 10001; ++i) {
    frames += ",0";
    prefixes += "," + std::to_string(i);
  }
  check_bad_inputs("firefox", {{"deep",
                                processed(tables("\"frame\":[" + frames + "],\"prefix\":[" + prefixes + "]",
                                                 R"("stack":[0],"time":[1])")),
                                "error limit: stack_depth"}});
}
