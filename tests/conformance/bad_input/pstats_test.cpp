#include <algorithm>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string i32(std::uint32_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}
std::string text(const std::string& value) {
  return "u" + i32(static_cast<std::uint32_t>(value.size())) + value;
}
std::string integer(std::uint32_t value) {
  return "i" + i32(value);
}
std::string tuple(std::initializer_list<std::string> items) {
  std::string out = "(" + i32(static_cast<std::uint32_t>(items.size()));
  for (const std::string& item : items) out += item;
  return out;
}
std::string function(const std::string& name) {
  return tuple({text("f.py"), integer(3), text(name)});
}
std::string entry(const std::string& calls, const std::string& callers) {
  return tuple({integer(1), calls,
                "f\x03"
                "1.5",
                "f\x03"
                "2.5",
                callers});
}
const std::string kNoCallers = "{0";
const std::string kMark = tuple({text("__sampled__")});
// Samples at the line and on the stack; 0.5 s and 1 s.
std::string line(std::uint32_t leaf, std::uint32_t anywhere, const std::string& callers) {
  return tuple({integer(leaf), integer(anywhere),
                "f\x03"
                "0.5",
                "f\x03"
                "1.0",
                callers});
}

}  // namespace

TEST_CASE("pstats: bad input is refused or counted") {
  std::string deep = "{";
  for (int i = 0; i < 600; ++i) deep += tuple({""}).substr(0, 5);
  // Nine tuples, each of ten references to the one before: a billion values.
  std::string laughs = "{(" + i32(9);
  for (std::uint32_t level = 0; level < 9; ++level) {
    laughs += "\xA8" + i32(10);
    for (int i = 0; i < 10; ++i) laughs += level == 0 ? std::string("N") : "r" + i32(level - 1);
  }
  const std::string whole = "{" + function("a") + entry(integer(1), kNoCallers) + "0";
  check_bad_inputs(
      "pstats",
      {
          {"nothing", "", "error malformed: empty"},
          {"no dictionary", integer(5), "error malformed: no dictionary"},
          {"an empty dictionary", "{0", "error malformed: no functions"},
          {"an unknown type", "{?", "error malformed: unknown type"},
          {"cut within a number", whole.substr(0, 20), "error truncated: "},
          {"a tuple of more items than bytes", "{(" + i32(1'000'000), "error truncated: only"},
          {"a tuple of negative length", "{(" + i32(0xFFFFFFFF), "error malformed: negative length"},
          {"a text longer than the file", "{u" + i32(1000) + "abc", "error truncated: ends early"},
          {"tuples in tuples in tuples", deep, "error limit: nesting"},
          {"tuples of the same tuples of the same tuples", laughs, "error limit: referred to too often"},
          {"a reference to nothing", "{r" + i32(7), "error malformed: a reference"},
          {"a dictionary that holds itself", std::string("\xFBr") + i32(0), "error malformed: a reference"},
          {"an interned string that is not there", "{R" + i32(0), "error malformed: a reference"},
          {"a key without a value", "{" + function("a") + "0", "error malformed: ends after a key"},
          {"a function of two fields", "{" + tuple({text("f"), integer(1)}) + "N0",
           "error malformed: not named"},
          {"an entry of four fields", "{" + function("a") + tuple({"N", "N", "N", "N"}) + "0",
           "error malformed: five values"},
          {"calls that are a text", "{" + function("a") + entry(text("x"), kNoCallers) + "0",
           "error malformed: no numbers"},
          {"negative calls", "{" + function("a") + entry(integer(0xFFFFFFFF), kNoCallers) + "0",
           "error malformed: no numbers"},
          {"calls that were not counted",
           "{" + function("a") +
               tuple({integer(0xFFFFFFFF), integer(0xFFFFFFFF),
                      "f\x03"
                      "1.5",
                      "f\x03"
                      "2.5",
                      kNoCallers}) +
               "0",
           "report uncounted-calls"},
          {"callers that are a tuple", "{" + function("a") + entry(integer(1), tuple({"N"})) + "0",
           "error malformed: no dictionary"},
          {"a caller without numbers",
           "{" + function("a") + entry(integer(1), "{" + function("b") + "N0") + "0",
           "error malformed: no numbers"},
          {"a function twice",
           "{" + function("a") + entry(integer(1), kNoCallers) + function("a") +
               entry(integer(1), kNoCallers) + "0",
           "error malformed: two entries"},
          {"a float that is no number",
           "{f\x03"
           "abc",
           "error malformed: no number"},
          {"a time that is not finite",
           "{" + function("a") +
               tuple({integer(1), integer(1), std::string("g\0\0\0\0\0\0\xF0\x7F", 9), integer(1),
                      kNoCallers}) +
               "0",
           "error malformed: no numbers"},
          {"bytes behind the end", whole + "xyz", "report trailing-bytes"},
          {"callers that called more often",
           "{" + function("a") + entry(integer(1), "{" + function("b") + integer(9) + "0") + "0",
           "report calls-disagree"},
          {"callers without times",
           "{" + function("a") + entry(integer(1), "{" + function("b") + integer(1) + "0") + "0",
           "report untimed-callers"},
          {"a mark that is a text", "{" + function("a") + line(1, 1, kNoCallers) + kMark + text("yes") + "0",
           "error malformed: neither true nor false"},
          {"a mark and nothing else", "{" + kMark + "T0", "error malformed: no functions"},
          {"a mark of another word", "{" + tuple({text("__sample__")}) + "T0", "error malformed: not named"},
          {"a mark that says no",
           "{" + function("a") + entry(integer(1), "{" + function("b") + integer(9) + "0") + kMark + "F0",
           "report calls-disagree"},
          {"sampled, and not counted",
           "{" + function("a") +
               tuple({integer(0xFFFFFFFF), integer(0xFFFFFFFF),
                      "f\x03"
                      "0.5",
                      "f\x03"
                      "1.0",
                      kNoCallers}) +
               kMark + "T0",
           "error malformed: samples are no numbers"},
          {"more samples at a line than on stacks with it",
           "{" + function("a") + line(3, 2, kNoCallers) + kMark + "T0", "report samples-disagree"},
          {"more samples of a call than of what is called",
           "{" + function("a") + line(1, 2, "{" + function("b") + integer(3) + "0") + kMark + "T0",
           "report samples-disagree"},
          {"a sampled recursion",
           "{" + function("a") + line(1, 2, "{" + function("a") + integer(9) + "0") + kMark + "T0",
           "report recursive-calls"},
          {"times beyond all measure",
           "{" + function("a") +
               tuple({integer(1), integer(1),
                      "f\x05"
                      "1e200",
                      "f\x05"
                      "1e200",
                      kNoCallers}) +
               kMark + "T0",
           "report clamped-time"},
          {"a caller without an entry",
           "{" + function("a") + entry(integer(1), "{" + function("b") + integer(1) + "0") + "0",
           "report unlisted-caller"},
      });
}

TEST_CASE("pstats: one dictionary of callers for many functions is refused before it multiplies") {
  // 400 functions share a dictionary of 400 callers by reference.
  std::string callers = "\xFB";
  for (int i = 0; i < 400; ++i) callers += function("caller" + std::to_string(i)) + integer(1);
  callers += "0";
  std::string bytes = "{" + function("f0") + entry(integer(1), callers);
  for (int i = 1; i < 400; ++i) bytes += function("f" + std::to_string(i)) + entry(integer(1), "r" + i32(0));
  bytes += "0";
  OpenOptions options;
  options.format = "pstats";
  const auto opened = open_hidden(bytes, options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("again and again") != std::string::npos);
}

TEST_CASE("pstats: what differs in the address of an object alone is one function, and said") {
  const auto called = [](const std::string& name) { return tuple({text("~"), integer(0), text(name)}); };
  const std::string caller = function("f");
  const auto from = [&](const std::string& self) {
    return "{" + caller + tuple({integer(1), integer(1), "f\x03" + self, "f\x03" + self}) + "0";
  };
  const std::string first = called("<built-in method __new__ of type object at 0x7f00aa>");
  const std::string second = called("<built-in method __new__ of type object at 0x7f00bb>");
  const std::string other = called("<built-in method __new__ of type object at 0xzz>");
  const std::string file = "{" + caller + entry(integer(1), kNoCallers) + first +
                           entry(integer(1), from("0.5")) + second + entry(integer(1), from("1.0")) + other +
                           entry(integer(1), kNoCallers) + "0";
  const Result<OpenedFile> opened = open_hidden(file);
  REQUIRE(opened);
  const Profile& profile = *opened->profiles[0];
  CHECK(profile.functions().size() == 3);
  std::vector<std::string> names;
  for (std::uint32_t f = 0; f < profile.functions().size(); ++f)
    names.emplace_back(profile.function_name(FunctionId{f}));
  CHECK(std::find(names.begin(), names.end(), "<built-in method __new__ of type object at 0x…>") !=
        names.end());
  CHECK(profile.total(MetricId{0u}) == Value{std::int64_t{6'000'000'000}});
  CHECK(std::any_of(opened->report.rows().begin(), opened->report.rows().end(),
                    [](const ReportRow& row) { return row.kind == "alike-functions" && row.count == 1; }));
}
