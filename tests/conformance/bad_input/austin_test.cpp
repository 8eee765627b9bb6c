#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kStack(
    "\x02\x07"
    "1f\0",
    5);
std::string mojo(const std::string& events, char version = 1) {
  return "MOJ" + std::string(1, version) + events;
}

}  // namespace

TEST_CASE("austin: bad text is refused or counted") {
  std::string deep = "P1;T1";
  for (int i = 0; i < 10001; ++i) deep += ";a:b:1";
  check_bad_inputs(
      "austin",
      {
          {"only metadata", "# austin: 3.0.0\n# mode: wall\n", "error malformed: no line is a sample"},
          {"no samples", "hello\nworld 5\n", "error malformed: no line is a sample"},
          {"too deep", deep + " 5\n", "error limit: stack_depth"},
          {"a line without a metric", "P1;T1;a:b:1 5\nP1;T1;a:b:1\n", "report malformed-line"},
          {"a process that is no number", "P1;T1;a:b:1 5\nPx;T1;a:b:1 5\n", "report malformed-line"},
          {"a line without a thread", "P1;T1;a:b:1 5\nP1 5\n", "report malformed-line"},
          {"a metric beyond 64 bits", "P1;T1 5\nP1;T1 99999999999999999999\n", "report malformed-line"},
          {"two fields in full mode", "# mode: full\nP1;T1 5,0,6\nP1;T1 5,0\n", "report malformed-line"},
          {"an idle mark of 2", "# mode: full\nP1;T1 5,0,6\nP1;T1 5,2,6\n", "report malformed-line"},
          {"a time that does not fit nanoseconds", "P1;T1 9223372036854775807\n", "report time-too-large"},
          {"a frame without a line", "P1;T1;main 5\n", "report frame-without-line"},
          {"a frame that was not read", "P1;T1;:INVALID: 5\n", "report invalid-frame"},
      });
}

TEST_CASE("austin: bad MOJO is refused or counted") {
  const std::string sample = kStack + "\x09\x05";
  check_bad_inputs(
      "austin",
      {
          {"no samples", mojo(""), "error malformed: no samples"},
          {"version 0", mojo("", '\0'), "error malformed: no line is a sample"},
          {"an event without a stack", mojo("\x09\x05"), "error malformed: before any stack"},
          {"an unknown event", mojo(sample + "\x63"), "error malformed: unknown"},
          {"an unknown event of a newer version",
           mojo(std::string("\x02\x07\0"
                            "1\0",
                            5) +
                    kStack + "\x63",
                9),
           "error unsupported: unknown"},
          {"a number without end", mojo(kStack + "\x09" + std::string(40, '\xFF')),
           "error malformed: 63 bits"},
          {"cut within a number", mojo(kStack + "\x09\x85"), "error truncated: ends early"},
          {"a text without end",
           mojo("\x01"
                "abc"),
           "error truncated: ends early"},
          {"a frame that is not defined", mojo(kStack + "\x05\x05"), "error malformed: not defined"},
          {"a text that is not defined", mojo(kStack + "\x03\x05\x06\x07\x08"),
           "error malformed: not defined"},
          {"a task of negative depth", mojo(sample + "\x0e\x01\x02\x41"), "error malformed: negative"},
          {"a sample without a value", mojo(kStack), "report no-metric"},
          {"an invalid frame", mojo(kStack + "\x04\x09\x05"), "report invalid-frame"},
          {"tasks", mojo(sample + "\x10\x01"), "report task-events"},
      });
}

TEST_CASE("austin: repeated stacks do not outgrow the file") {
  // Every sample repeats the one before and adds a frame: quadratic, so bounded.
  std::string bytes = mojo(kStack + std::string("\x0b\x05<a>\0\x03\x06\x05\x05\x01", 11));
  for (int i = 0; i < 60000; ++i) bytes += kStack + "\x0d\x05\x06\x09\x01";
  OpenOptions options;
  options.format = "austin";
  const auto opened = open_hidden(bytes, options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::limit);
}
