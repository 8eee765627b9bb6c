// One shape, many values: what boxes and rows of one metric's view come to under another metric is what a
// view of that metric says, and what brute force on the stacks says.
#include <map>

#include <fmt/format.h>

#include "core/layout/flame.h"
#include "core/view/key_memo.h"
#include "core/view/values.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/two_metrics.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Views {
  SelectionPtr first, second;
};
// The second selection shares work with the first, or has all of its own.
std::optional<Views> views_of(const Case& c) {
  if (c.with_samples && c.stacks.empty()) return std::nullopt;
  const ProfilePtr profile = with_two_metrics(c);
  ViewSpec spec = c.spec;
  spec.metric = "first";
  ViewCache cache(std::size_t{1} << 30);
  const PartsOf kept(cache, 1);
  const auto first = select(profile, spec, {}, kept);
  spec.metric = "second";
  if (!first) FAIL(first.error().message);
  const auto second = select(profile, spec, {}, c.seed % 2 == 0 ? kept : PartsOf());
  if (!second) FAIL(second.error().message);
  if (c.seed % 2 == 0 && !same_boxes(**first, **second)) FAIL("the boxes are not shared");
  return Views{*first, *second};
}

std::string compare_boxes(const Case& c, Shape shape) {
  const auto views = views_of(c);
  if (!views) return "";
  ViewSpec spec = c.spec;
  spec.shape = shape;
  std::vector<Key> focus;
  if (shape == Shape::callers || shape == Shape::callees) {
    focus = focus_keys(*views->first, spec);
    if (focus.empty()) return "";
  }
  const auto layout = whole_layout(*views->first, shape, focus);
  if (!layout) return layout.error().message;
  const oracle::Tree expected = oracle::tree_of(second_metric(c), spec);
  const std::vector<oracle::Path> paths = paths_of(*views->first, *layout);
  // Asked a second time it is remembered.
  for (int time = 0; time < 2; ++time) {
    const auto values = values_of_boxes(*views->second, shape, focus, {layout->parent, layout->key},
                                        BoxValuesWanted::totals_and_selves, {});
    if (!values) return values.error().message;
    for (std::size_t i = 0; i < layout->size(); ++i) {
      const auto found = expected.find(paths[i]);
      const oracle::Sums sums = found == expected.end() ? oracle::Sums() : found->second;
      if (units(c, values->total[i]) != sums.total || units(c, values->self[i]) != sums.self)
        return fmt::format("{}: total {} self {}, expected {} {}", show(paths[i]), units(c, values->total[i]),
                           units(c, values->self[i]), sums.total, sums.self);
    }
  }
  return "";
}

}  // namespace

TEST_CASE("law: boxes of a top-down view have the values of another metric") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::top_down); });
}
TEST_CASE("law: boxes of a bottom-up view have the values of another metric") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::bottom_up); });
}
TEST_CASE("law: boxes of a callers view have the values of another metric") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::callers); });
}
TEST_CASE("law: boxes of a callees view have the values of another metric") {
  check_law([](const Case& c) { return compare_boxes(c, Shape::callees); });
}

TEST_CASE("law: rows of a flat table have the values of another metric, from the table and from contexts") {
  check_law([](const Case& c) -> std::string {
    const auto views = views_of(c);
    if (!views) return "";
    const Selection& second = *views->second;
    StopToken stop;
    const auto index = second.boxes->memo->key_index(*second.boxes, true, stop);
    std::vector<Key> keys;
    for (Key key = 0; key < second.boxes->keys->n_keys() + 1; ++key) keys.push_back(key);
    const KeyValues looked_up = values_of_keys(second, *flat_view(second, {}), keys);
    const auto found = values_of_keys(second, **index, keys, {});
    if (!found) return found.error().message;
    const auto expected = oracle::flat_of(second_metric(c), c.spec);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (looked_up.self[i] != found->self[i] || looked_up.total[i] != found->total[i] ||
          looked_up.present[i] != found->present[i])
        return fmt::format("key {}: the table says {} {}, its contexts {} {}", keys[i],
                           units(c, looked_up.self[i]), units(c, looked_up.total[i]),
                           units(c, found->self[i]), units(c, found->total[i]));
      if (keys[i] >= second.boxes->keys->n_keys()) continue;
      const auto at = expected.find(oracle_name(second, keys[i]));
      if ((found->present[i] != 0) != (at != expected.end()))
        return oracle_name(second, keys[i]) + " is there or not";
      if (at != expected.end() &&
          (units(c, found->total[i]) != at->second.total || units(c, found->self[i]) != at->second.self))
        return fmt::format("{}: {} {}, expected {} {}", at->first, units(c, found->self[i]),
                           units(c, found->total[i]), at->second.self, at->second.total);
    }
    return "";
  });
}
