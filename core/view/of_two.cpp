#include "core/view/of_two.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/support/checked.h"
#include "core/support/sums.h"
#include "core/view/memo.h"
#include "core/view/path_classes.h"

namespace profd {
namespace {

// By class, what one side has there.
template <class T>
bool add_side(const Selection& side, const std::vector<std::uint32_t>& context_of, const PathClasses& classes,
              std::vector<T>& sums) {
  const Column<std::uint32_t>& contexts = side.rows->self.contexts;
  return std::visit(
      [&](const auto& values) {
        bool fits = true;
        for (std::size_t row = 0; row < values.size(); ++row)
          fits = add_saturating(sums[classes.of_context[context_of[contexts[row]]]],
                                static_cast<T>(finite(values[row]))) &&
                 fits;
        return fits;
      },
      side.rows->self.values[side.metric().v]);
}

template <class T>
T function_of(OfTwo of, T before, T after, bool& fits) {
  if (of == OfTwo::most) return std::max(magnitude(before), magnitude(after));
  if constexpr (std::is_same_v<T, std::int64_t>) {
    std::int64_t change = 0;
    if (!__builtin_sub_overflow(after, before, &change)) return magnitude(change);
    fits = false;
    return std::numeric_limits<std::int64_t>::max();
  } else {
    return std::fabs(after - before);
  }
}

template <class T>
Column<T> zeros(std::size_t n) {
  return Column<T>(std::vector<T>(n, T{}));
}

// The rows of a profile where the metric is that function, and nothing is known of the others.
template <class T>
Result<RowsPtr> rows_of(const TwoSides& sides, const Boxes& boxes, const PathClasses& classes,
                        MetricId metric, OfTwo of) {
  auto rows = std::make_shared<Rows>();
  rows->profile = boxes.profile;
  std::array<std::vector<T>, 2> sums;
  bool fits = true;
  for (const Side side : kSides) {
    std::vector<T>& own = sums[index_of(side)];
    own.resize(classes.size());
    const Selection& selection = side == Side::before ? *sides.before : *sides.after;
    fits = add_side(selection, sides.merged->context_of[index_of(side)], classes, own) && fits;
    for (const std::string& warning : selection.rows->warnings) rows->warnings.push_back(warning);
  }
  std::vector<std::uint32_t> contexts;
  std::vector<T> values;
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    T before = sums[0][c];
    if (sides.scale != 1) {
      const double scaled = static_cast<double>(before) * sides.scale;
      if constexpr (std::is_same_v<T, std::int64_t>) {
        constexpr double kMost = 9.2e18;
        fits = std::fabs(scaled) < kMost && fits;
        before = static_cast<T>(std::llround(std::clamp(scaled, -kMost, kMost)));
      } else {
        before = scaled;
      }
    }
    const T value = function_of(of, before, sums[1][c], fits);
    if (value == T{}) continue;
    contexts.push_back(classes.first[c]);
    values.push_back(value);
  }
  const std::size_t n = contexts.size();
  rows->self.contexts = Column<std::uint32_t>(std::move(contexts));
  for (std::uint32_t m = 0; m < boxes.profile->metrics().size(); ++m) {
    if (m == metric.v)
      rows->self.values.emplace_back(Column<T>(std::move(values)));
    else if (std::holds_alternative<double>(boxes.profile->total(MetricId{m})))
      rows->self.values.emplace_back(zeros<double>(n));
    else
      rows->self.values.emplace_back(zeros<std::int64_t>(n));
  }
  rows->clamped = !fits;
  return RowsPtr(std::move(rows));
}

}  // namespace

Result<SelectionPtr> select_of_two(const TwoSides& sides, const BoxesPtr& boxes, OfTwo of, StopToken stop) {
  for (const SelectionPtr& side : {sides.before, sides.after})
    if (side->estimated)
      return fail(ErrorCode::unsupported,
                  "a source that has calls and no stacks has no widths of two sides; compare it in step");
  const MetricInfo& info = sides.after->profile->metrics()[sides.after->metric().v];
  if (sides.before->profile->metrics()[sides.before->metric().v].unit != info.unit)
    return fail(ErrorCode::invalid, "metrics of two units are not compared");
  const std::vector<MetricInfo>& metrics = boxes->profile->metrics();
  MetricId metric{0u};
  while (metric.v < metrics.size() &&
         (metrics[metric.v].name != info.name || metrics[metric.v].unit != info.unit))
    ++metric.v;
  if (metric.v == metrics.size())
    return fail(ErrorCode::invalid, "what was merged has no metric " + info.name);

  auto selection = std::make_shared<Selection>();
  selection->profile = boxes->profile;
  selection->boxes = boxes;
  selection->memo = std::make_shared<ViewMemo>();
  PROFD_TRY(const PathClasses classes, classes_of(*boxes, stop));
  const bool fractional = std::holds_alternative<double>(boxes->profile->total(metric));
  PROFD_TRY(selection->rows, fractional ? rows_of<double>(sides, *boxes, classes, metric, of)
                                        : rows_of<std::int64_t>(sides, *boxes, classes, metric, of));
  PROFD_TRY(const SumsPtr swept, sum_up(*selection->rows, metric, stop));
  // The whole is what both sides come to by this function, not the sum of the two profiles.
  auto sums = std::make_shared<Sums>(*swept);
  sums->profile_total = sums->total;
  selection->sums = std::move(sums);
  return SelectionPtr(std::move(selection));
}

}  // namespace profd
