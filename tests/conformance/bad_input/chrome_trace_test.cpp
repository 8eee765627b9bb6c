#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string chunk(const std::string& data) {
  return R"([{"name":"ProfileChunk","ph":"P","id":"1","pid":1,"tid":1,"ts":5,"args":{"data":)" + data + "}}]";
}

}  // namespace

TEST_CASE("chrome-trace: bad input is refused or counted") {
  std::string deep = "[";
  for (int i = 0; i < 10005; ++i)
    deep += R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":)" + std::to_string(i) + "},";
  std::string nested = R"([{"ph":"X","ts":1,"dur":1,"args":)";
  for (int i = 0; i < 600; ++i) nested += "[";
  const std::string x = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2})";
  check_bad_inputs(
      "chrome-trace",
      {
          {"no object of events", "{\"a\":1}", "error malformed: no array traceEvents"},
          {"no events", "[]", "error malformed: nothing was measured"},
          {"an opened array only", "[", "error truncated: ends where"},
          {"empty elements alone", "[{},{}]", "error malformed: nothing was measured"},
          {"empty elements that end early", "[{},{}", "error truncated: ends where"},
          {"a number", "5", "error malformed: expected an object"},
          {"an event that is a number", "[5]", "error malformed: expected an object"},
          {"a time that is a word", R"([{"ph":"X","ts":"soon","dur":1}])",
           "error malformed: no number of microseconds"},
          {"a time out of range", R"([{"ph":"X","ts":1e300,"dur":1}])",
           "error malformed: no number of microseconds"},
          {"only metadata", R"([{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"x"}}])",
           "error malformed: nothing was measured"},
          {"too deep a stack", deep, "error limit: stack_depth"},
          {"too deep a JSON text", nested, "error limit: nesting"},
          {"something after the array", "[" + x + "] x", "error malformed: the end of the JSON text"},
          {"a node without an id", chunk(R"({"cpuProfile":{"nodes":[{}]}})"), "error malformed: no id"},
          {"a node with two parents",
           chunk(
               R"({"cpuProfile":{"nodes":[{"id":1,"children":[3]},{"id":2,"children":[3]},{"id":3}],"samples":[3]},"timeDeltas":[1]})"),
           "error malformed: two parents"},
          {"stack frames in a cycle",
           "{\"traceEvents\":[" + x +
               R"(],"stackFrames":{"1":{"name":"a","parent":2},"2":{"name":"b","parent":1}},"samples":[{"ts":1,"sf":1}]})",
           "error malformed: its own ancestor"},
          {"a sample of a node that is missing",
           chunk(R"({"cpuProfile":{"nodes":[],"samples":[9]},"timeDeltas":[1]})"), "report missing-node"},
          {"a sample without a delta",
           chunk(R"({"cpuProfile":{"nodes":[{"id":9,"callFrame":{"functionName":"f"}}],"samples":[9]}})"),
           "report sample-without-time"},
          {"a sample of a stack that is missing",
           "{\"traceEvents\":[" + x + R"(],"samples":[{"ts":1,"sf":7,"weight":"x"}]})",
           "report missing-stack-frame"},
          {"a weight that is no number",
           "{\"traceEvents\":[" + x + R"(],"samples":[{"ts":1,"sf":7,"weight":"x"}]})", "report bad-weight"},
          {"no closing bracket", "[" + x + ",\n", "report no-closing-bracket"},
          {"a comma after the last event", "[" + x + ",\n]", "report trailing-comma"},
          {"a comma after the last event of an object", "{\"traceEvents\":[" + x + ",],\"a\":1}",
           "report trailing-comma"},
          {"a comma inside an event", R"([{"ph":"X","ts":1,"dur":1,}])", "error malformed: a key in quotes"},
          {"cut inside an event", "[" + x + R"(,{"ph":"X","na)", "report truncated"},
          {"cut after the events", R"({"traceEvents":[)" + x + R"(],"metad)", "report truncated"},
          {"an end without a begin", "[" + x + R"(,{"ph":"E","pid":1,"tid":1,"ts":9}])",
           "report unmatched-end"},
          {"a begin without an end", "[" + x + R"(,{"ph":"B","name":"b","pid":1,"tid":1,"ts":9}])",
           "report unfinished-event"},
          {"a begin closed by its caller's end",
           R"([{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","name":"a","ts":3}])",
           "report closed-with-caller"},
          {"a negative duration", R"([{"ph":"X","ts":1,"dur":-1}])", "report negative-duration"},
          {"no duration", R"([{"ph":"X","ts":1}])", "report event-without-duration"},
          {"no time", "[" + x + R"(,{"ph":"X","dur":1}])", "report event-without-time"},
          {"no phase", "[" + x + R"(,{"ts":1}])", "report event-without-phase"},
          {"a phase nobody knows", "[" + x + R"(,{"ph":"?","ts":1}])", "report other-event"},
          {"a counter without a value", "[" + x + R"(,{"ph":"C","ts":1}])", "report counter-not-a-number"},
          {"a counter of words", "[" + x + R"(,{"ph":"C","ts":1,"args":{"a":"b","c":[],"d":null}}])",
           "report counter-not-a-number"},
          {"an end without a begin", "[" + x + R"(,{"ph":"e","ts":1,"id":1}])", "report unmatched-async-end"},
          {"a counter without a time", "[" + x + R"(,{"ph":"C","args":{"a":1}}])",
           "report event-without-time"},
          {"an instant with nested arguments", "[" + x + R"(,{"ph":"i","ts":1,"args":{"a":{"b":{}}}}])",
           "report event-field-left-out"},
          {"flows", "[" + x + R"(,{"ph":"s","ts":1,"id":1}])", "report flow-event"},
          {"picoseconds", R"([{"ph":"X","ts":1.0001,"dur":1}])", "report rounded-time"},
          {"crossing", R"([{"ph":"X","ts":1,"dur":5},{"ph":"X","ts":2,"dur":5}])", "report crossing-events"},
      });
}

TEST_CASE("chrome-trace: events that all cross each other take bounded time") {
  std::string text = "[";
  for (int i = 0; i < 100000; ++i)
    text += R"({"ph":"X","name":"a","ts":)" + std::to_string(i) + R"(,"dur":100000},)";
  const auto opened = open_hidden(text);
  REQUIRE(opened);
  CHECK(std::get<std::int64_t>(opened->profiles.front()->total(MetricId{0u})) == 100000);
}

TEST_CASE("chrome-trace: durations near the end of time are clamped") {
  const auto opened = open_hidden(R"([{"ph":"X","pid":1,"ts":9223372036854775,"dur":9223372036854775}])");
  REQUIRE(opened);
}
