#include "core/source/whole_functions.h"

#include "core/model/profile_builder.h"
#include "core/view/selection.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// Functions without lines, but for one: `solve` of line 10 calls itself, `plain` has measured lines, two
// lambdas begin on line 30.
struct Demo {
  ProfileBuilder builder;
  MetricId metric = builder.add_metric("time", "ns", false);
  StringId file = builder.string("a.py");

  FrameId frame(const char* name, std::uint32_t begin, std::uint32_t line) {
    FunctionSpec function;
    function.name = builder.string(name);
    function.file = file;
    function.start_line = begin;
    FrameSpec spec;
    spec.function = builder.function(function);
    spec.line = line;
    return builder.frame(spec);
  }
  void add(const std::vector<FrameId>& stack, std::int64_t value) {
    ContextId at = kRootContext;
    for (const FrameId each : stack) at = builder.context(at, each);
    builder.add_self(at, metric, value);
  }
  ProfilePtr profile() {
    const FrameId main = frame("main", 1, 0), solve = frame("solve", 10, 0);
    const FrameId plain = frame("plain", 20, 21), unknown = frame("plain", 20, 0);
    add({main, solve, solve, plain}, 5);
    add({main, solve}, 2);
    add({main, unknown}, 3);
    add({main, frame("one lambda", 30, 0), frame("another", 30, 0)}, 7);
    add({frame("without a line", 0, 0)}, 1);
    return *std::move(builder).finish();
  }
};

LineValues lines_of(const ProfilePtr& profile, const std::vector<StringId>& files) {
  const SelectionPtr selected = *select(profile, {}, {});
  LineValues lines = *annotate_lines(*selected, files, {});
  const std::vector<std::shared_ptr<const FlatView>> tables = {
      std::make_shared<const FlatView>(*flat_view(*selected, {}))};
  add_whole_functions(lines, whole_functions(*profile, *selected->boxes->keys, files, lines.line), tables);
  return lines;
}

}  // namespace

TEST_CASE("a function without lines stands on the line it begins on, each stack counted once") {
  Demo demo;
  const StringId file = demo.file;
  const LineValues lines = lines_of(demo.profile(), {file});
  // Not 20: of that function some lines are known. Not 30: what two come to together is not.
  CHECK(lines.line == std::vector<std::uint32_t>{1, 10, 21});
  CHECK(lines.is_function == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(lines.total[0] == std::vector<Value>{Value{17L}, 7L, 5L});
  CHECK(lines.self[0] == std::vector<Value>{Value{0L}, 2L, 5L});
  CHECK(lines.estimated == std::vector<std::uint8_t>{0});
}

TEST_CASE("a function without lines does not stand in another file, nor on a line with costs of its own") {
  Demo demo;
  const StringId file = demo.file, other = demo.builder.string("b.py");
  const ProfilePtr profile = demo.profile();
  CHECK(lines_of(profile, {other}).line.empty());
  const SelectionPtr selected = *select(profile, {}, {});
  const auto found = whole_functions(*profile, *selected->boxes->keys, {file}, {10});
  REQUIRE(found.size() == 1);
  CHECK(found.front().line == 1);
  ViewSpec by_line;
  by_line.granularity = Granularity::line;
  const SelectionPtr of_lines = *select(profile, by_line, {});
  CHECK(whole_functions(*profile, *of_lines->boxes->keys, {file}, {}).empty());
}

TEST_CASE("the body of a file stands back from a function on the first line") {
  Demo demo;
  const StringId file = demo.file;
  const FrameId body = demo.frame("<module>", 1, 0), work = demo.frame("work", 1, 0);
  demo.add({body, work}, 5);
  demo.add({body}, 2);
  const LineValues lines = lines_of(*std::move(demo.builder).finish(), {file});
  CHECK(lines.line == std::vector<std::uint32_t>{1});
  CHECK(lines.total[0] == std::vector<Value>{Value{5L}});
}
