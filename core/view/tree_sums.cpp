#include "core/view/tree_sums.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/view/sweep.h"

namespace profd {
namespace {

template <class T>
Result<void> sweep(const Rows& rows, const Column<T>& values, Sums& sums, StopToken& stop) {
  const ContextTree& tree = rows.profile->tree();
  sums.negative = std::any_of(values.begin(), values.end(), [](T v) { return v < 0; });
  Column<T> totals(subtree_sums(tree, rows.self.contexts, values, false, sums.saturated, stop));
  PROFD_CHECK(stop.status());
  sums.total = totals[0];
  sums.totals = totals;
  sums.widths = totals;
  if (!sums.negative) return {};
  sums.widths = Column<T>(subtree_sums(tree, rows.self.contexts, values, true, sums.saturated, stop));
  return stop.status();
}

}  // namespace

std::size_t Sums::memory() const {
  return sizeof(Sums) + bytes_of(totals) + (negative ? bytes_of(widths) : 0);
}

Result<SumsPtr> sum_up(const Rows& rows, MetricId metric, StopToken stop) {
  auto sums = std::make_shared<Sums>();
  sums->metric = metric;
  sums->saturated = rows.profile->metrics()[metric.v].saturated || rows.clamped;
  sums->profile_total = rows.profile->total(metric);
  PROFD_CHECK(std::visit([&](const auto& values) { return sweep(rows, values, *sums, stop); },
                         rows.self.values[metric.v]));
  return SumsPtr(std::move(sums));
}

}  // namespace profd
