#include "core/view/by_path.h"

#include <utility>
#include <vector>

#include "core/support/sums.h"
#include "core/support/two_sides.h"

namespace profd {
namespace {

// By class, what one side has there.
template <class T>
BigVector<T> sums_by_class(const SelfTable& self, MetricId side, const PathClasses& classes, bool& fits) {
  BigVector<T> sums(classes.size(), T{});
  const Column<T>& values = std::get<Column<T>>(self.values[side.v]);
  for (std::size_t row = 0; row < values.size(); ++row)
    fits = add_saturating(sums[classes.of_context[self.contexts[row]]], finite(values[row])) && fits;
  return sums;
}

template <class T>
T of_sides(MetricRole role, T before, T after, bool& fits) {
  return role == MetricRole::larger ? larger_of(before, after) : difference_of(before, after, fits);
}

template <class T>
Result<RowsPtr> evaluated(const Rows& rows, const PathClasses& classes, MetricId metric) {
  const Profile& profile = *rows.profile;
  const ComposedMetric& how = profile.composition()->metrics[metric.v];
  bool fits = !profile.metrics()[how.before.v].saturated && !profile.metrics()[how.after.v].saturated;
  const BigVector<T> before = sums_by_class<T>(rows.self, how.before, classes, fits),
                     after = sums_by_class<T>(rows.self, how.after, classes, fits);
  std::vector<std::uint32_t> contexts;
  std::vector<T> values;
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    const T value = of_sides(how.role, before[c], after[c], fits);
    if (value == T{}) continue;
    contexts.push_back(classes.first[c]);
    values.push_back(value);
  }
  auto out = std::make_shared<Rows>();
  out->profile = rows.profile;
  out->filters = rows.filters;
  out->warnings = rows.warnings;
  out->excluded = rows.excluded;
  out->clamped = !fits || rows.clamped;
  const std::size_t n = contexts.size();
  out->self.contexts = Column<std::uint32_t>(std::move(contexts));
  for (std::uint32_t m = 0; m < profile.metrics().size(); ++m) {
    if (m == metric.v)
      out->self.values.emplace_back(Column<T>(std::move(values)));
    else if (std::holds_alternative<double>(profile.total(MetricId{m})))
      out->self.values.emplace_back(Column<double>(std::vector<double>(n, 0.0)));
    else
      out->self.values.emplace_back(Column<std::int64_t>(std::vector<std::int64_t>(n, 0)));
  }
  return RowsPtr(std::move(out));
}

// These metrics, which are functions of the same two sides, have the value of a path on its first row.
template <class T>
void put_on_first_rows(ProfileData& data, const PathClasses& classes, const std::vector<MetricId>& metrics) {
  const std::vector<ComposedMetric>& how = data.composition->metrics;
  const ComposedMetric& sides = how[metrics.front().v];
  bool fits = !data.metrics[sides.before.v].saturated && !data.metrics[sides.after.v].saturated;
  const BigVector<T> before = sums_by_class<T>(data.self, sides.before, classes, fits),
                     after = sums_by_class<T>(data.self, sides.after, classes, fits);
  const std::size_t n_rows = data.self.contexts.size();
  std::vector<BigVector<T>> columns(metrics.size(), BigVector<T>(n_rows, T{}));
  std::vector<T> totals(metrics.size(), T{});
  std::vector<bool> taken(classes.size(), false);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::uint32_t path = classes.of_context[data.self.contexts[row]];
    if (taken[path]) continue;
    taken[path] = true;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      columns[i][row] = of_sides(how[metrics[i].v].role, before[path], after[path], fits);
      fits = add_saturating(totals[i], columns[i][row]) && fits;
    }
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    data.self.values[metrics[i].v] = Column<T>(std::move(columns[i]));
    data.totals[metrics[i].v] = totals[i];
    data.metrics[metrics[i].v].saturated = !fits;
  }
}

}  // namespace

std::optional<SideMetrics> sides_of(const Profile& profile, MetricId metric) {
  const Composition* const composition = profile.composition();
  if (composition == nullptr || composition->kind != Composed::diff) return std::nullopt;
  const ComposedMetric& composed = composition->metrics[metric.v];
  return SideMetrics{composed.before, composed.after};
}

bool is_by_path(const Profile& profile, MetricId metric) {
  return profile.composition() != nullptr && is_by_path(profile.composition()->metrics[metric.v].role);
}

Result<void> take_values_by_path(ProfileData& data, const PathClasses& classes, Executor& executor,
                                 const StopToken& stop) {
  const Composition& composition = *data.composition;
  std::vector<std::vector<MetricId>> metrics(composition.of.size());
  for (std::uint32_t m = 0; m < composition.metrics.size(); ++m)
    if (is_by_path(composition.metrics[m].role)) metrics[composition.metrics[m].of].emplace_back(m);
  executor.run(metrics.size(), [&](std::size_t of) {
    if (metrics[of].empty() || stop.stop_requested()) return;
    std::visit([&]<class T>(T) { put_on_first_rows<T>(data, classes, metrics[of]); },
               data.totals[metrics[of].front().v]);
  });
  data.functions_by_path = true;
  return stop.status();
}

Result<RowsPtr> rows_by_path(const Rows& rows, const Boxes& boxes, MetricId metric, StopToken stop) {
  PROFD_TRY(const PathClasses classes, classes_of(boxes, std::move(stop)));
  return std::visit([&]<class T>(T) { return evaluated<T>(rows, classes, metric); },
                    rows.profile->total(metric));
}

}  // namespace profd
