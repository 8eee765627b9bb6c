#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string json(const std::string& members) {
  return R"({"version": 1.2, "mode": "cpu", "interval": 1000, "samples": 1, "gc_samples": 0)" + members + "}";
}
std::string raw(const std::string& list) {
  return json(R"(, "frames": {"1": {"name": "a", "samples": 1}}, "raw": )" + list);
}
// A hash of one entry whose value is `value`.
std::string marshal(const std::string& value) {
  return "\x04\x08{\x06:\x06"
         "a" +
         value;
}

}  // namespace

TEST_CASE("stackprof: bad JSON is refused or counted") {
  check_bad_inputs(
      "stackprof",
      {
          {"no JSON", "abc", "error malformed: expected"},
          {"no frames", json(""), "error malformed: no frames"},
          {"cut", json(R"(, "frames": {"1": {)").substr(0, 100), "error truncated: "},
          {"a frame whose id is no number", json(R"(, "frames": {"x": {}})"), "error malformed: no number"},
          {"a frame twice", json(R"(, "frames": {"1": {}, "1": {}})"), "error malformed: twice"},
          {"a sample of an unknown frame", raw("[1, 5, 1]"), "error malformed: not there"},
          {"a sample longer than the list", raw("[9, 1, 1]"), "error malformed: longer than the list"},
          {"a sample of negative height", raw("[-1, 1, 1]"), "error malformed: longer than the list"},
          {"a sample without its count", raw("[1, 1]"), "error malformed: longer than the list"},
          {"a negative count", raw("[1, 1, -5]"), "error malformed: impossible count"},
          {"a number beyond measure", raw("[1e300]"), "error malformed: out of range"},
          {"an edge to nowhere", json(R"(, "frames": {"1": {"edges": {"2": 1}}})"),
           "error malformed: not there"},
          {"samples that are texts", raw(R"(["a"])"), "error malformed: a number"},
          {"another number of samples", raw("[1, 1, 7]"), "report samples-disagree"},
          {"another number of times", raw("[1, 1, 1], \"raw_timestamp_deltas\": [1, 2]"),
           "report times-disagree"},
          {"missed samples", json(R"(, "missed_samples": 3, "frames": {})"), "report missed-samples"},
          {"a lone surrogate", json(R"(, "frames": {"1": {"name": "\ud800"}})"), "report invalid-text"},
      });
}

TEST_CASE("stackprof: bad Marshal is refused or counted") {
  std::string deep;
  for (int i = 0; i < 600; ++i) deep += "[\x06";
  // Nine lists, each of ten links to the one before: a billion values. Link 0 is the hash, 1 the list of
  // lists.
  std::string laughs = "[\x0e";
  for (int level = 0; level < 9; ++level) {
    laughs += "[\x0f";
    for (int i = 0; i < 10; ++i)
      laughs += level == 0 ? std::string("0") : std::string("@") + static_cast<char>(level + 1 + 5);
  }
  check_bad_inputs(
      "stackprof",
      {
          {"an empty hash", std::string("\x04\x08{\0", 4), "error malformed: no frames"},
          {"cut", "\x04\x08{\x06:\x0a", "error truncated: ends early"},
          {"an object of a class",
           marshal("o:\x06"
                   "b"),
           "error unsupported: no profile holds"},
          {"a link to nothing", marshal("@\x0a"), "error malformed: not there"},
          {"a hash that holds itself", marshal(std::string("@\0", 2)), "error malformed: not there"},
          {"lists of the same lists of the same lists", marshal(laughs),
           "error limit: referred to too often"},
          {"a symbol that is not there", marshal(";\x0a"), "error malformed: not there"},
          {"a list of more items than bytes", marshal("[\x02\xff\x7f"), "error truncated: are left"},
          {"a list of negative length", marshal("[\xfa"), "error truncated: are left"},
          {"lists in lists in lists", marshal(deep + "0"), "error limit: nesting"},
          {"a float that is no number",
           marshal("f\x08"
                   "abc"),
           "error malformed: no number"},
          {"a text with a list as encoding",
           marshal("I\"\x06x\x06:\x06"
                   "E[\x06"
                   "0"),
           "error unsupported: instance variables"},
          {"a list with instance variables",
           marshal("I[\x06"
                   "0"),
           "error unsupported: only texts"},
      });
}

TEST_CASE("stackprof: a list of raw samples that was emptied does not hide the call graph") {
  const auto read =
      read_with("stackprof", R"({"version":1.2,"mode":"wall","interval":1000,"samples":2,"gc_samples":0,
    "missed_samples":0,"frames":{"1":{"name":"a","file":"a.rb","line":1,"total_samples":2,"samples":2}},"raw":[]})");
  REQUIRE(read.error.empty());
  CHECK(total_of(*read.profiles.at(0), "samples") == 2);
}
