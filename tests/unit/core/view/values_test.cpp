#include "core/view/values.h"

#include <thread>

#include "core/view/key_memo.h"
#include "core/view/memo.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kHeap =
    "# metrics: inuse/bytes alloc/bytes\n"
    "main;parse[p.cc:1];node 10 100\nmain;parse[p.cc:2];node 0 50\nmain;parse[p.cc:2];text 0 7\n"
    "main;gone 0 1000\nmain;keep 5 5\n";

SelectionPtr metric_of(const ProfilePtr& profile, const char* metric, const PartsOf& kept = {},
                       std::vector<Filter> filters = {}) {
  ViewSpec spec;
  spec.metric = metric;
  spec.filters = std::move(filters);
  return select(profile, spec, {}, kept).value();
}

Filter hide(const char* name) {
  Filter filter;
  filter.op = FilterOp::hide;
  filter.by = FilterBy::function;
  filter.pattern = name;
  return filter;
}

}  // namespace

TEST_CASE("a box has all of another metric at its path, also where the first metric has nothing") {
  const auto profile = profile_from_text(kHeap);
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const auto inuse = metric_of(profile, "inuse", kept), alloc = metric_of(profile, "alloc", kept);
  LayoutRequest request;
  const auto layout = layout_flame(*inuse, request, {});
  REQUIRE(format_layout(*inuse, *layout) == dedent(R"(
    all 15 0
      main 15 0
        keep 5 5
        parse 10 0
          node 10 10
  )"));
  // Boxes go row by row: all, main, keep, parse, node.
  CHECK(totals_of_boxes(*alloc, *layout).value() == std::vector<Value>{Value{1162L}, 1162L, 5L, 157L, 150L});
  const auto both = values_of_boxes(*alloc, Shape::top_down, {}, {layout->parent, layout->key},
                                    BoxValuesWanted::totals_and_selves, {});
  CHECK(both->self == std::vector<Value>{Value{0L}, 0L, 5L, 0L, 150L});
}

TEST_CASE("remainder boxes have no values, nor has what is not there") {
  const auto profile = profile_from_text(kHeap);
  const auto alloc = metric_of(profile, "alloc");
  const Key main = keys_called(*alloc, {"main"})[0], gone = keys_called(*alloc, {"gone"})[0];
  const std::vector<std::uint32_t> parent = {kNone, 0, 1, 1, 1, 2};
  const std::vector<Key> key = {kNoKey, main, kNoKey, gone, main, gone};
  for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
    const auto values = values_of_boxes(*alloc, shape, {}, {parent, key}, BoxValuesWanted::totals, {});
    REQUIRE(values);
    CHECK(values->total == (shape == Shape::top_down
                                ? std::vector<Value>{Value{1162L}, 1162L, 0L, 1000L, 0L, 0L}
                                : std::vector<Value>{Value{1162L}, 0L, 0L, 0L, 0L, 0L}));
  }
  CHECK(values_of_boxes(*alloc, Shape::flat, {}, {parent, key}, BoxValuesWanted::totals, {}).error().code ==
        ErrorCode::invalid);
  CHECK(
      values_of_boxes(*alloc, Shape::callees, {}, {parent, key}, BoxValuesWanted::totals, {}).error().code ==
      ErrorCode::invalid);
}

TEST_CASE("the boxes of a view are worked out once for all its metrics") {
  const auto profile = profile_from_text(kHeap);
  const std::vector<Filter> hidden = {hide("parse")};
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const auto inuse = metric_of(profile, "inuse", kept, hidden);
  const auto alloc = metric_of(profile, "alloc", kept, hidden);
  CHECK(same_boxes(*inuse, *alloc));
  CHECK(inuse->boxes->owner.data() == alloc->boxes->owner.data());
  CHECK(inuse->boxes->memo == alloc->boxes->memo);
  const auto other = metric_of(profile, "alloc", kept);
  CHECK_FALSE(same_boxes(*inuse, *other));
  CHECK(inuse->boxes->memo != other->boxes->memo);
  // Where the lists of contexts are made, both have them.
  const auto layout = layout_flame(*inuse, {}, {});
  REQUIRE(totals_of_boxes(*alloc, *layout));
  StopToken stop;
  const auto paths = inuse->boxes->memo->paths(Shape::top_down, {});
  REQUIRE(paths->contexts);
  const std::size_t n = paths->contexts->size();
  CHECK(n == layout->size());
  REQUIRE(totals_of_boxes(*inuse, *layout));
  CHECK(paths->contexts->size() == n);
}

TEST_CASE("threads that ask for values of the same boxes get what one thread gets") {
  const auto profile = profile_from_text(kHeap);
  const auto boxes = layout_flame(*metric_of(profile, "alloc"), {}, {}).value();
  const auto ask = [&](const Selection& selection, Shape shape) {
    const std::vector<Key> focus = keys_called(selection, {"parse"});
    return values_of_boxes(selection, shape, focus, {boxes.parent, boxes.key},
                           BoxValuesWanted::totals_and_selves, {})
        .value();
  };
  const std::vector<Shape> shapes = {Shape::top_down, Shape::bottom_up, Shape::callers, Shape::callees};
  const std::vector<SelectionPtr> alone = {metric_of(profile, "inuse"), metric_of(profile, "alloc")};
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const auto inuse = metric_of(profile, "inuse", kept);
  const std::vector<SelectionPtr> shared = {inuse, metric_of(profile, "alloc", kept)};
  constexpr std::size_t kRounds = 50;
  std::vector<std::vector<Value>> got(4 * kRounds);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kRounds; ++i)
        got[t * kRounds + i] = ask(*shared[(t + i) % 2], shapes[(t / 2 + i / 2) % 4]).total;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t i = 0; i < kRounds; ++i)
      CHECK(got[t * kRounds + i] == ask(*alone[(t + i) % 2], shapes[(t / 2 + i / 2) % 4]).total);
}

TEST_CASE("a selection outlives the one whose boxes it shares") {
  const auto profile = profile_from_text(kHeap);
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  auto inuse = metric_of(profile, "inuse", kept, {hide("parse")});
  const auto layout = layout_flame(*inuse, {}, {});
  const auto alloc = metric_of(profile, "alloc", kept, {hide("parse")});
  inuse.reset();
  CHECK(totals_of_boxes(*alloc, *layout).value()[0] == Value{1162L});
}

TEST_CASE("keys with few contexts are told from those that are everywhere") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "main;f" + std::to_string(i) + ";malloc 1\n";
  const auto selection = select_text(text);
  StopToken stop;
  const auto index = selection->boxes->memo->key_index(*selection->boxes, true, stop);
  CHECK(has_few_contexts(*selection, **index, keys_called(*selection, {"main", "f1"})));
  CHECK_FALSE(has_few_contexts(*selection, **index, keys_called(*selection, {"malloc"})));
}
