// Sums: what the rows that passed come to in one metric, by context and in all. Swept once and shared by
// every view on the same rows.
#pragma once

#include <cstddef>
#include <memory>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/rows.h"

namespace profd {

struct Sums {
  MetricId metric;
  ValueColumn totals;  // by context: sum of selves in its subtree
  // By context, Σ|self| of the contexts of the subtree: what layouts use for width. Shares `totals` when no
  // self is negative.
  ValueColumn widths;
  bool negative = false;   // some self is below zero, so that widths differ from totals
  bool saturated = false;  // some sum was clamped to the limits of int64
  Value total;             // of what passed
  Value profile_total;     // of everything

  [[nodiscard]] std::size_t memory() const;
};
using SumsPtr = std::shared_ptr<const Sums>;

Result<SumsPtr> sum_up(const Rows& rows, MetricId metric, StopToken stop);

}  // namespace profd
