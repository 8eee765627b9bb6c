#include "core/view/by_path.h"

#include <utility>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/sums.h"
#include "core/support/two_sides.h"
#include "core/view/path_classes.h"

namespace profd {
namespace {

// By class, what one side has there.
template <class T>
std::vector<T> sums_by_class(const Rows& rows, MetricId side, const PathClasses& classes, bool& fits) {
  std::vector<T> sums(classes.size(), T{});
  const Column<T>& values = std::get<Column<T>>(rows.self.values[side.v]);
  for (std::size_t row = 0; row < values.size(); ++row)
    fits = add_saturating(sums[classes.of_context[rows.self.contexts[row]]], finite(values[row])) && fits;
  return sums;
}

template <class T>
Result<RowsPtr> evaluated(const Rows& rows, const PathClasses& classes, MetricId metric) {
  const Profile& profile = *rows.profile;
  const ComposedMetric& how = profile.composition()->metrics[metric.v];
  bool fits = !profile.metrics()[how.before.v].saturated && !profile.metrics()[how.after.v].saturated;
  const std::vector<T> before = sums_by_class<T>(rows, how.before, classes, fits),
                       after = sums_by_class<T>(rows, how.after, classes, fits);
  std::vector<std::uint32_t> contexts;
  std::vector<T> values;
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    const T value = how.role == MetricRole::larger ? larger_of(before[c], after[c])
                                                   : difference_of(before[c], after[c], fits);
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

Result<ProfilePtr> with_totals_by_path(const ProfilePtr& profile, Executor& executor, StopToken stop) {
  PROFD_TRY(const BoxesPtr boxes, make_boxes(profile, Granularity::function, {}, PartsOf(), stop));
  PROFD_TRY(const RowsPtr rows, make_rows(profile, {}, stop));
  PROFD_TRY(const PathClasses classes, classes_of(*boxes, stop));
  ProfileData data = profile->data();
  for (std::uint32_t m = 0; m < data.metrics.size(); ++m) {
    const MetricId metric{m};
    if (!is_by_path(*profile, metric)) continue;
    PROFD_TRY(data.totals[m], std::visit(
                                  [&]<class T>(T) -> Result<Value> {
                                    PROFD_TRY(const RowsPtr by_path, evaluated<T>(*rows, classes, metric));
                                    T sum{};
                                    for (const T value : std::get<Column<T>>(by_path->self.values[m]).span())
                                      add_saturating(sum, value);
                                    return Value(sum);
                                  },
                                  profile->total(metric)));
  }
  ProfileBuilder builder;
  builder.info() = data.info;
  builder.adopt(std::move(data));
  return std::move(builder).finish(executor, std::move(stop));
}

Result<RowsPtr> rows_by_path(const Rows& rows, const Boxes& boxes, MetricId metric, StopToken stop) {
  PROFD_TRY(const PathClasses classes, classes_of(boxes, std::move(stop)));
  return std::visit([&]<class T>(T) { return evaluated<T>(rows, classes, metric); },
                    rows.profile->total(metric));
}

}  // namespace profd
