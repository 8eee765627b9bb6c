#include "formats/flamegraph_svg/boxes.h"

#include <algorithm>
#include <cmath>

namespace profd::flamegraph_svg {
namespace {

// y is written with at most a few decimals; rows are at least a pixel apart.
constexpr double kSameRow = 0.25;
// x and width in pixels have one decimal.
constexpr double kRounding = 0.11;
// In the first versions of inferno they are whole pixels, rounded down: boxes of no width begin where others
// do.
constexpr double kWholeRounding = 1.1;
constexpr std::size_t kMostParents = 256;

struct Level {
  std::size_t begin, end;
};

bool root_is_on_top(const Drawing& drawing, const std::vector<Level>& levels) {
  if (drawing.inverted) return *drawing.inverted;
  const auto all = [&](const Level& level) {
    return std::all_of(drawing.boxes.begin() + static_cast<std::ptrdiff_t>(level.begin),
                       drawing.boxes.begin() + static_cast<std::ptrdiff_t>(level.end),
                       [](const Box& box) { return box.is_all; });
  };
  const bool top = all(levels.front()), bottom = all(levels.back());
  if (top != bottom) return top;
  const auto width = [&](const Level& level) {
    double sum = 0;
    for (std::size_t i = level.begin; i < level.end; ++i) sum += drawing.boxes[i].width;
    return sum;
  };
  return width(levels.front()) > width(levels.back());
}

// The box of [begin, end) that `child` stands on; end when there is none. `self` is what boxes have left:
// where rounding hides which of several it is, it is one that has room for the child.
std::size_t parent_of(const std::vector<Box>& boxes, Level level, const Box& child, bool exact,
                      double rounding, const std::vector<double>& self) {
  // The start of a parent rounds to no more than that of its child, and parents are wider than the rounding.
  const double slack = exact ? 0 : 1e-6;
  const auto after = std::upper_bound(boxes.begin() + static_cast<std::ptrdiff_t>(level.begin),
                                      boxes.begin() + static_cast<std::ptrdiff_t>(level.end), child.x + slack,
                                      [](double x, const Box& box) { return x < box.x; });
  auto at = static_cast<std::size_t>(after - boxes.begin());
  if (exact) {
    const bool inside = at > level.begin && child.x + child.width <= boxes[at - 1].x + boxes[at - 1].width;
    return inside ? at - 1 : level.end;
  }
  std::size_t nearest = level.end;
  for (std::size_t n = 0; at > level.begin && n < kMostParents; ++n) {
    const Box& parent = boxes[--at];
    if (child.x + child.width / 2 > parent.x + parent.width + rounding) continue;
    if (nearest == level.end) nearest = at;
    if (self[at] >= child.value * (1 - 1e-9)) return at;
    if (parent.x < child.x - rounding) break;
  }
  return nearest;
}

std::int64_t whole(double value) {
  return value >= 9.2e18 ? INT64_MAX : std::llround(value);
}

}  // namespace

Result<void> add_tree(Drawing& drawing, ReadContext& context, ProfileBuilder& builder) {
  std::vector<Box>& boxes = drawing.boxes;
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.y < b.y; });
  std::vector<Level> levels;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (i == 0 || boxes[i].y - boxes[levels.back().begin].y > kSameRow) levels.push_back({i, i});
    levels.back().end = i + 1;
  }
  for (const Level& level : levels)
    std::stable_sort(boxes.begin() + static_cast<std::ptrdiff_t>(level.begin),
                     boxes.begin() + static_cast<std::ptrdiff_t>(level.end), [&](const Box& a, const Box& b) {
                       return a.x != b.x || drawing.exact_places ? a.x < b.x : a.value > b.value;
                     });
  if (!root_is_on_top(drawing, levels)) std::reverse(levels.begin(), levels.end());

  std::string_view name = drawing.unit.empty() ? "samples" : std::string_view(drawing.unit), unit = name;
  if (unit == "samples" || unit == "events" || unit == "calls") unit = "count";
  if (normalize_unit(unit).ends_with("seconds")) name = "time";
  const MetricId metric = builder.add_metric(name, normalize_unit(unit), drawing.fractional);
  MetricId delta;
  if (drawing.differential) delta = builder.add_metric("delta", "percent", true);

  if (unit == "count" && !drawing.fractional) {
    double samples = 0;
    for (std::size_t i = levels.front().begin; i < levels.front().end; ++i) samples += boxes[i].value;
    builder.set_n_samples(static_cast<std::uint64_t>(whole(samples)));
  }
  const bool whole_pixels = std::all_of(boxes.begin(), boxes.end(), [](const Box& box) {
    return box.x == std::floor(box.x) && box.width == std::floor(box.width);
  });
  const double rounding = whole_pixels ? kWholeRounding : kRounding;
  std::vector<ContextId> contexts(boxes.size());
  std::vector<double> self(boxes.size());
  std::uint64_t n_lost = 0, n_over = 0;
  std::uint64_t first_lost = 0, first_over = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    PROFD_CHECK(context.stop.status());
    for (std::size_t i = levels[l].begin; i < levels[l].end; ++i) {
      const Box& box = boxes[i];
      self[i] = box.value;
      ContextId parent = kRootContext;
      if (l > 0) {
        const std::size_t p = parent_of(boxes, levels[l - 1], box, drawing.exact_places, rounding, self);
        if (p != levels[l - 1].end) {
          parent = contexts[p];
          self[p] -= box.value;
        } else if (n_lost++ == 0) {
          first_lost = box.offset;
        }
      }
      const bool whole_graph = l == 0 && box.is_all;
      contexts[i] = whole_graph ? kRootContext : builder.context(parent, box.frame);
    }
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (drawing.differential && boxes[i].delta_percent != 0)
      builder.add_self(contexts[i], delta, boxes[i].delta_percent);
    // Differences of what was printed in full are exact but for the last bit.
    if (self[i] < -1e-6 * boxes[i].value - 1e-9) {
      if (n_over++ == 0) first_over = boxes[i].offset;
      continue;
    }
    if (drawing.fractional)
      builder.add_self(contexts[i], metric, std::max(self[i], 0.0));
    else
      builder.add_self(contexts[i], metric, whole(std::max(self[i], 0.0)));
  }
  context.report.add("no-parent", Severity::loss, "boxes that stand on no other were taken as roots",
                     first_lost, n_lost);
  context.report.add("children-exceed", Severity::loss,
                     "boxes are narrower than what stands on them; the total is larger by the difference",
                     first_over, n_over);
  return {};
}

}  // namespace profd::flamegraph_svg
