#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string tree(const std::string& root) {
  return R"({"start_time": 1, "duration": 1, "sample_count": 1, "root_frame": )" + root + "}";
}
std::string records(const std::string& list) {
  return R"({"start_time": 1, "duration": 1, "sample_count": 1, "frame_records": )" + list + "}";
}

}  // namespace

TEST_CASE("pyinstrument: bad input is refused or counted") {
  std::string deep;
  for (int i = 0; i < 30000; ++i) deep += R"({"time": 1, "function": "f", "children": [)";
  std::string stack = "[[[";
  for (int i = 0; i < 10001; ++i) stack += i == 0 ? R"("f")" : R"(,"f")";
  check_bad_inputs(
      "pyinstrument",
      {
          {"no JSON", "abc", "error malformed: expected"},
          {"nothing of the format", "{}", "error malformed: no root_frame"},
          {"a root that is a number", tree("5"), "error malformed: no root_frame"},
          {"a frame without a time", tree(R"({"function": "f", "children": []})"),
           "error malformed: no time"},
          {"a time that is a text", tree(R"({"function": "f", "time": "1"})"), "error malformed: a number"},
          {"children that are numbers", tree(R"({"time": 1, "children": [1]})"),
           "error malformed: an object"},
          {"cut", tree(R"({"time": 1, "children": [)").substr(0, 90), "error truncated: "},
          {"nested without end", tree(deep), "error limit: nest"},
          {"a stack without end", records(stack + "], 1]]"), "error limit: stack_depth"},
          {"a record without a time", records(R"([[["f"]]])"), "error malformed: a time"},
          {"a record with more", records(R"([[["f"], 1, 2]])"), "error malformed: a time"},
          {"a time out of range", records(R"([[["f"], 1e300]])"), "error malformed: out of range"},
          {"a frame's time out of range", tree(R"({"function": "f", "time": 1e300})"),
           "error malformed: out of range"},
          {"a stack of numbers", records(R"([[[1], 1]])"), "error malformed: a string"},
          {"nothing sampled", tree("null"), "report no-samples"},
          {"a lone surrogate", tree(R"({"function": "\ud800", "time": 1})"), "report invalid-text"},
          {"children that took more than their parent",
           tree(R"({"function": "a", "time": 1, "children": [{"function": "b", "time": 1.000001}]})"),
           "report rounded-time"},
          {"several lines", tree(R"({"identifier": "f", "time": 1, "attributes": {"l1": 0.5, "l2": 0.5}})"),
           "report several-lines"},
      });
}

TEST_CASE("pyinstrument: a session of version 4.1 is known by the records it begins with") {
  std::string text = R"({"frame_records": [)";
  for (int i = 0; i < 2000; ++i)
    text +=
        std::string(i == 0 ? "" : ", ") + R"([["<module>\u0000t.py\u00001", "f\u0000t.py\u00003"], 0.001])";
  text +=
      R"(], "start_time": 1.0, "duration": 2.0, "sample_count": 2000, "start_call_stack": ["<module>\u0000t.py\u00001"],)"
      R"( "program": "t.py", "cpu_time": 1.0})";
  const auto opened = open_hidden(text);
  REQUIRE(opened);
  CHECK(opened->profiles[0]->info().format == "pyinstrument");
}
