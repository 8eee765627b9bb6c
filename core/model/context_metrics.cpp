#include "core/model/context_metrics.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/support/id.h"

namespace profd {
namespace {

bool is_exact_integer(double value) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  return std::fabs(value) <= kMostExact && std::nearbyint(value) == value;
}

// Rows of the self table: where each context has its first one, and those that have none and need one.
struct RowPlan {
  std::vector<std::uint32_t> contexts;  // of the new table, ascending
  std::vector<std::uint32_t> old_row;   // beside them; kNone: new
};

RowPlan plan_rows(const Profile& profile, std::span<const ContextMetric> metrics) {
  RowPlan plan;
  const Column<std::uint32_t>& old = profile.self().contexts;
  std::uint32_t row = 0;
  for (std::uint32_t c = 0; c < profile.tree().size(); ++c) {
    const std::uint32_t first = row;
    for (; row < old.size() && old[row] == c; ++row) {
      plan.contexts.push_back(c);
      plan.old_row.push_back(row);
    }
    const auto has_value = [&](const ContextMetric& metric) { return metric.self[c] != 0; };
    if (first == row && std::any_of(metrics.begin(), metrics.end(), has_value)) {
      plan.contexts.push_back(c);
      plan.old_row.push_back(kNone);
    }
  }
  return plan;
}

template <class T>
Column<T> rows_by_plan(const Column<T>& column, const RowPlan& plan) {
  std::vector<T> out;
  out.reserve(plan.old_row.size());
  for (const std::uint32_t row : plan.old_row) out.push_back(row == kNone ? T{0} : column[row]);
  return Column<T>(std::move(out));
}

// A context has its value in the first of its rows.
template <class T>
Column<T> values_by_plan(const std::vector<double>& self, const RowPlan& plan) {
  std::vector<T> out(plan.contexts.size(), 0);
  for (std::size_t row = 0; row < out.size(); ++row)
    if (row == 0 || plan.contexts[row] != plan.contexts[row - 1])
      out[row] = static_cast<T>(self[plan.contexts[row]]);
  return Column<T>(std::move(out));
}

template <class T>
void add_metric(ProfileData& data, const ContextMetric& metric, const RowPlan& plan) {
  double total = 0;
  for (const double value : metric.self) total += value;
  data.totals.emplace_back(static_cast<T>(total));
  data.self.values.emplace_back(values_by_plan<T>(metric.self, plan));
  if (data.samples) data.samples->values.emplace_back(Column<T>(std::vector<T>(data.samples->size(), 0)));
  MetricInfo& info = data.metrics.emplace_back();
  info.name = metric.name;
  info.unit = normalize_unit(metric.unit);
}

Result<void> check(const Profile& profile, std::span<const ContextMetric> metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const ContextMetric& metric = metrics[i];
    if (metric.self.size() != profile.tree().size() ||
        !std::all_of(metric.self.begin(), metric.self.end(),
                     [](double value) { return std::isfinite(value); }))
      return fail(ErrorCode::invalid, "a metric has a finite value for every context");
    const auto same = [&](const ContextMetric& other) { return other.name == metric.name; };
    if (profile.find_metric(metric.name) ||
        std::any_of(metrics.begin(), metrics.begin() + static_cast<std::ptrdiff_t>(i), same))
      return fail(ErrorCode::invalid, "the profile has a metric of that name: " + metric.name);
  }
  return {};
}

}  // namespace

Result<ProfilePtr> with_context_metrics(const ProfilePtr& profile, std::span<const ContextMetric> metrics) {
  if (metrics.empty()) return profile;
  if (profile->composition() != nullptr)
    return fail(ErrorCode::unsupported, "a profile that is put together of others takes no further metrics");
  PROFD_CHECK(check(*profile, metrics));
  const RowPlan plan = plan_rows(*profile, metrics);
  ProfileData data = profile->data();
  if (plan.contexts.size() != data.self.contexts.size()) {
    data.self.contexts = Column<std::uint32_t>(std::vector<std::uint32_t>(plan.contexts));
    for (ValueColumn& values : data.self.values)
      values =
          std::visit([&](const auto& column) -> ValueColumn { return rows_by_plan(column, plan); }, values);
  }
  for (const ContextMetric& metric : metrics) {
    double size = 0;
    for (const double value : metric.self) size += std::fabs(value);
    if (is_exact_integer(size) && std::all_of(metric.self.begin(), metric.self.end(), is_exact_integer))
      add_metric<std::int64_t>(data, metric, plan);
    else
      add_metric<double>(data, metric, plan);
    if (data.stated) {
      for (std::vector<ValueColumn>* totals : {&data.stated->functions.totals, &data.stated->calls.totals})
        totals->resize(data.metrics.size());
    }
  }
  return std::make_shared<const Profile>(std::move(data));
}

}  // namespace profd
