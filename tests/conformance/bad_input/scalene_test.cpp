#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string lines(const std::string& list) {
  return R"({"elapsed_time_sec": 1, "files": {"t.py": {"lines": )" + list + "}}}";
}
std::string stacks(const std::string& key, const std::string& list) {
  return R"({"elapsed_time_sec": 1, "files": {}, ")" + key + "\": " + list + "}";
}

}  // namespace

TEST_CASE("scalene: bad input is refused or counted") {
  std::string deep = "[[[";
  for (int i = 0; i < 10001; ++i) deep += i == 0 ? R"("a f:1;")" : R"(,"a f:1;")";
  check_bad_inputs(
      "scalene",
      {
          {"no JSON", "abc", "error malformed: expected"},
          {"nothing of the format", "{}", "error malformed: no files"},
          {"the output of a child", R"({"is_child": true})", "error unsupported: child process"},
          {"lines that are numbers", lines("[1]"), "error malformed: an object"},
          {"a file that is a list", R"({"elapsed_time_sec": 1, "files": {"t.py": []}})",
           "error malformed: an object"},
          {"a share beyond measure", lines(R"([{"n_malloc_mb": 1e300}])"), "error malformed: out of range"},
          {"a fraction of a malloc", lines(R"([{"n_mallocs": 0.5}])"), "error malformed: whole number"},
          {"cut", lines(R"([{"lineno": 1)").substr(0, 64), "error truncated: "},
          {"a stack without a value", stacks("memory_stacks", R"([[["a f:1;"]]])"),
           "error malformed: no value"},
          {"a stack with two values", stacks("memory_stacks", R"([[["a f:1;"], 1, 2]])"),
           "error malformed: more than its value"},
          {"a stack of numbers", stacks("combined_stacks", "[[[1], 1]]"), "error malformed: a string"},
          {"a stack without end", stacks("combined_stacks", deep + "], 1]]"), "error limit: stack_depth"},
          {"memory beyond measure", stacks("memory_stacks", R"([[["a f:1;"], 1e99]])"),
           "error malformed: out of range"},
          {"peaks", lines(R"([{"lineno": 1, "n_cpu_percent_python": 100, "n_peak_mb": 5}])"), "report peaks"},
          {"a lone surrogate", R"({"elapsed_time_sec": 1, "program": "\ud800", "files": {}})",
           "report invalid-text"},
      });
}

TEST_CASE("scalene: a time line that does not add up is not used") {
  const auto opened = open_hidden(
      R"({"elapsed_time_sec": 1, "files": {}, "combined_stacks": [[["a f:1;"], 2]],)"
      R"( "combined_stacks_timeline": [{"t_sec": 0, "stack_index": 0, "count": 1, "thread_id": 1}]})");
  REQUIRE(opened);
  REQUIRE(opened->profiles.size() == 2);
  CHECK(opened->profiles[1]->samples() == nullptr);
  CHECK(as_double(opened->profiles[1]->total(MetricId{0u})) == 2);
}

TEST_CASE("scalene: stacks of older versions have a count or a list as their value") {
  const auto open_stacks = [](const std::string& value) {
    auto opened = open_hidden(stacks("stacks", R"([[[["t.py", "f", 3]], )" + value + "]]"));
    REQUIRE(opened);
    REQUIRE(opened->profiles.size() == 2);
    return opened->profiles[1];
  };
  const auto counted = open_stacks("7");
  CHECK(counted->metrics().size() == 1);
  CHECK(as_double(counted->total(MetricId{0u})) == 7);
  const auto listed = open_stacks("[7, 0.5, 0.25, 2]");
  REQUIRE(listed->metrics().size() == 3);
  CHECK(as_double(listed->total(MetricId{0u})) == 7);
  CHECK(as_double(listed->total(MetricId{1u})) == 0.5);
  CHECK(as_double(listed->total(MetricId{2u})) == 0.25);
}

TEST_CASE("scalene: a file is known by what stands before long stacks") {
  const std::string frame = R"({"kind": "py", "display_name": "f", "filename_or_module": "t.py", "line": 3})";
  std::string text = R"({"alloc_samples": 1, "args": ["t.py"], "combined_stacks": [)";
  for (int i = 0; i < 1000; ++i) text += (i == 0 ? "[[" : ", [[") + frame + "], 1]";
  text += R"(], "elapsed_time_sec": 1, "files": {"t.py": {"lines": []}}})";
  const auto opened = open_hidden(text);
  REQUIRE(opened);
  CHECK(opened->profiles[0]->info().format == "scalene");
}
