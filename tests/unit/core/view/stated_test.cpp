#include "core/view/stated.h"

#include <map>

#include "core/model/profile_builder.h"
#include "core/source/annotations.h"
#include "core/view/filtered_profile.h"
#include "core/view/hottest.h"
#include "core/view/neighbour_table.h"
#include "core/view/table.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kGap = "[several callers]";

// main calls left (a.c:3) and right (a.c:4), both call leaf, which calls itself; odd is named and its total
// is not. What is known of stacks: leaf is somewhere below main.
class Source {
 public:
  Source() {
    cost_ = b_.add_metric("cost", "count");
    calls_ = b_.add_metric("calls", "count");
    b_.state_costs({cost_});
  }
  FrameId at(std::string_view name, std::uint32_t line = 0) {
    return b_.frame({.function = b_.function(name, "a.c"), .line = line});
  }
  void self(const std::vector<FrameId>& stack, std::int64_t cost, std::int64_t calls = 0) {
    const ContextId context = b_.context_of(stack);
    b_.add_self(context, cost_, cost);
    b_.add_self(context, calls_, calls);
  }
  void function(FrameId frame, std::int64_t total) {
    const Value value = total;
    b_.state_function(frame, std::span(&value, 1));
  }
  void call(FrameId caller, FrameId callee, std::int64_t total) {
    const Value value = total;
    b_.state_call(caller, callee, std::span(&value, 1));
  }
  ProfileBuilder& builder() { return b_; }
  ProfilePtr finish() { return *std::move(b_).finish(); }

 private:
  ProfileBuilder b_;
  MetricId cost_, calls_;
};

ProfilePtr program() {
  Source s;
  const FrameId main = s.at("main"), left = s.at("left"), right = s.at("right"), leaf = s.at("leaf"),
                odd = s.at("odd"), gap = s.at(kGap);
  s.self({s.at("main", 2)}, 1);
  s.self({s.at("main", 3), s.at("left", 7)}, 10);
  s.self({s.at("main", 4), s.at("right", 9)}, 20);
  s.self({main, gap, s.at("leaf", 12)}, 300);
  s.self({main, gap, leaf, odd}, 5);
  s.function(main, 336);
  s.function(left, 112);
  s.function(right, 223);
  s.function(leaf, 305);
  s.builder().state_function(odd, {});
  s.call(s.at("main", 3), left, 112);
  s.call(s.at("main", 4), right, 223);
  s.call(s.at("left", 7), leaf, 102);
  s.call(s.at("right", 9), leaf, 100);
  s.call(s.at("right", 10), leaf, 103);
  s.call(s.at("leaf", 12), leaf, 40);
  s.builder().state_call(s.at("leaf", 13), odd, {});
  return s.finish();
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec = "flat") {
  return *select(profile, *parse_view_spec(spec), {});
}

std::map<std::string, std::string> rows(const Selection& s) {
  const FlatView view = *flat_view(s, {});
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < view.key.size(); ++i)
    out[key_name(*s.profile, *s.boxes->keys, view.key[i])] = format_value(view.total[i]) + " " +
                                                             format_value(view.self[i]) +
                                                             (view.estimate_of(i) != kExact ? " ~" : "");
  return out;
}

using StatedRows = std::map<std::string, std::string>;

std::string level(const Selection& s, Shape shape, const std::vector<std::string>& path = {}) {
  TreeRequest request{shape, keys_called(s, {"leaf"}), {}, 0, 100};
  if (!path.empty()) request.path = keys_called(s, path);
  const auto level = tree_level(s, request, {});
  if (!level) return level.error().message;
  const auto number = [](const Value& value, bool estimated) {
    return (estimated ? "~" : "") + format_value(value);
  };
  std::string out = number(level->total, (level->estimate & kTotalEstimated) != 0) + " " +
                    number(level->self, (level->estimate & kSelfEstimated) != 0);
  for (std::size_t i = 0; i < level->key.size(); ++i)
    out += ", " + key_name(*s.profile, *s.boxes->keys, level->key[i]) + " " +
           number(level->child_total[i], (level->child_estimate[i] & kTotalEstimated) != 0);
  return out;
}

}  // namespace

TEST_CASE("the total of a function is what the source states, not what an estimated tree sums up to") {
  const auto profile = program();
  CHECK(profile->contexts_estimated());
  const auto selection = selected(profile);
  CHECK(selection->estimated);
  // The frame that stands for unknown callers is no function of the source.
  CHECK(
      rows(*selection) ==
      StatedRows{
          {"main", "336 1"}, {"left", "112 10"}, {"right", "223 20"}, {"leaf", "305 300"}, {"odd", "5 5 ~"}});
}

TEST_CASE("what is not stated is of the tree and says so") {
  const auto profile = program();
  for (const char* spec : {"flat by file", "flat | drop function odd"}) {
    const FlatView view = *flat_view(*selected(profile, spec), {});
    for (std::size_t row = 0; row < view.key.size(); ++row) CHECK(view.estimate_of(row) == kTotalEstimated);
  }
  CHECK_FALSE(selected(profile, "flat | hide function odd")->stated);
  CHECK(rows(*selected(profile, "flat | drop function odd")).at("main") == "331 1 ~");
  const auto measured = select_text("main;f 3", "flat");
  CHECK_FALSE(measured->estimated);
  CHECK(flat_view(*measured, {})->estimate.empty());
}

TEST_CASE("a line whose own total the source states has that, in a recursion too") {
  Source s;
  const FrameId main = s.at("main", 51), inner = s.at("fib", 6), outer = s.at("fib", 5), fib = s.at("fib");
  s.self({main, inner}, 28);
  s.self({main, outer}, 3);
  s.function(main, 31);
  s.function(inner, 31);
  s.function(outer, 3);
  s.call(main, fib, 31);
  s.builder().state_call(inner, fib, {});
  const auto profile = s.finish();
  const StatedRows lines = rows(*selected(profile, "flat by line"));
  CHECK(lines.at("fib a.c:6") == "31 28");
  CHECK(lines.at("fib a.c:5") == "3 3");
  CHECK(lines.at("main a.c:51") == "31 0");
  // The lines of a function that calls itself do not add up.
  CHECK(rows(*selected(profile)).at("fib").ends_with("~"));
  CHECK(rows(*selected(profile)).at("main") == "31 0");
}

TEST_CASE("lines cost what runs there and what the calls made there cost") {
  const auto profile = program();
  const StatedRows lines = rows(*selected(profile, "flat by line"));
  CHECK(lines.at("main a.c:2") == "1 1");
  CHECK(lines.at("main a.c:3") == "112 0");
  CHECK(lines.at("main a.c:4") == "223 0");
  CHECK(lines.at("right a.c:9") == "120 20");
  CHECK(lines.at("right a.c:10") == "103 0");
  CHECK(lines.at("leaf a.c:12") == "340 300");
  // Of odd no line is known, nor its total; what stands for lines of main that are not known has no row.
  CHECK(lines.at("odd a.c:?") == "5 5 ~");
  CHECK_FALSE(lines.contains("main a.c:?"));
}

TEST_CASE("callers and callees are the source's, recursion as its own tool counts it") {
  const auto profile = program();
  const auto selection = selected(profile);
  CHECK(level(*selection, Shape::callers) == "305 0, right 203, left 102, leaf 40");
  CHECK(level(*selection, Shape::callees) == "305 300, leaf 40, odd ~0");
  // Below them only the tree can tell.
  CHECK(level(*selection, Shape::callees, {"odd"}) == "~5 ~5");
  CHECK(level(*selected(profile, "flat | drop function odd"), Shape::callers).starts_with("~300 ~0"));

  const Key leaf = keys_called(*selection, {"leaf"})[0];
  const NeighbourTable table = *make_neighbour_table(*selection, {});
  for (const Neighbours& around : {*neighbours_of(*selection, leaf, 2, {}), neighbours_in(table, leaf, 2)}) {
    CHECK(around.total == Value{305L});
    CHECK_FALSE(around.total_estimated);
    CHECK(around.n_callers == 3);
    REQUIRE(around.callers.size() == 2);
    CHECK(around.callers[0].key == keys_called(*selection, {"right"})[0]);
    CHECK(around.callers[0].total == Value{203L});
    CHECK(around.no_caller == Value{0L});
    // The cost of the call to odd is not stated: it is counted, and no number is given.
    CHECK(around.n_callees == 2);
    CHECK(around.callees.size() == 1);
    CHECK(around.calls_estimated);
  }
  const Key main = keys_called(*selection, {"main"})[0];
  const Neighbours around = *neighbours_of(*selection, main, 2, {});
  CHECK(around.no_caller == Value{336L});
  CHECK(around.no_callee == Value{1L});
  CHECK_FALSE(around.calls_estimated);
  const auto other = selected(profile, "flat | metric calls");
  CHECK(neighbours_of(*other, main, 2, {})->calls_estimated);
}

TEST_CASE("the lines of a file take the cost of calls from where the calls are") {
  const auto profile = program();
  StringId file;
  for (std::uint32_t id = 0; id < profile->strings().size(); ++id)
    if (profile->strings()[StringId{id}] == "a.c") file = StringId{id};
  const auto whole = selected(profile, "flat");
  const LineValues lines = *annotate_lines(*whole, {file}, {});
  SerialExecutor serial;
  const LineIndex index = *make_line_index(*whole, {}, serial);
  CHECK(annotate_lines(*whole, index, {file}, {})->total == lines.total);
  CHECK(lines.line == std::vector<std::uint32_t>{2, 3, 4, 7, 9, 10, 12, 13});
  // The call on line 13 has no cost: the lines are of the tree, all of them.
  // How often a function was called is not summed up.
  CHECK(lines.estimated == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("parts of one function add up unless one can be above another") {
  const auto totals = [](bool recursive) {
    Source s;
    s.self({s.at("main", 1)}, 1);
    s.self({s.at("main", 2)}, 2);
    s.self({s.at("main"), s.at("work", 5)}, 40);
    s.function(s.at("main", 1), 41);
    s.function(s.at("main", 2), 2);
    s.function(s.at("work", 5), 40);
    s.call(s.at("main", 1), s.at("work", 5), 40);
    if (recursive) s.call(s.at("work", 5), s.at("main", 2), 2);
    return rows(*selected(s.finish()));
  };
  CHECK(totals(false).at("main") == "43 3");
  CHECK(totals(true).at("main") == "43 3 ~");
}

TEST_CASE("a profile that is written out keeps what is stated while nothing is filtered") {
  const auto profile = program();
  const auto written = [&](std::string_view text) {
    const ViewSpec spec = *parse_view_spec(text);
    return *filtered_profile(**select(profile, spec, {}), spec, {});
  };
  const ProfilePtr whole = written("top-down");
  CHECK(rows(*selected(whole)) == rows(*selected(profile)));
  CHECK(level(*selected(whole), Shape::callers) == level(*selected(profile), Shape::callers));
  // Of a part, only that its paths are an estimate is known.
  const ProfilePtr part = written("top-down | drop function odd");
  CHECK(part->contexts_estimated());
  CHECK(part->stated()->functions.size() == 0);
  CHECK(rows(*selected(part)).at("main") == "331 1 ~");
}
