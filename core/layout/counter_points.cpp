#include "core/layout/counter_points.h"

#include <algorithm>
#include <cmath>

#include "core/layout/timeline_tracks.h"

namespace profd {

Result<CounterPoints> counter_points(const CounterTable& counters, std::uint32_t counter, std::int64_t from,
                                     std::int64_t to, std::uint32_t columns, StopToken& stop) {
  CounterPoints out;
  const std::uint32_t first = counters.first[counter], last = counters.first[counter + 1];
  const bool sums = value_or(counters.changes, counter, std::uint8_t{0}) != 0;
  const auto point_at = [&](std::int64_t time) {
    return static_cast<std::uint32_t>(
        std::lower_bound(counters.time.begin() + first, counters.time.begin() + last, time) -
        counters.time.begin());
  };
  const std::uint32_t begin = point_at(from), end = point_at(to);
  double sum = 0;
  // The value from point i on.
  const auto value_at = [&](std::uint32_t i) {
    const double value = counters.value[i];
    if (!sums) return value;
    if (std::isfinite(value)) sum += value;
    return sum;
  };
  if (sums) {
    for (std::uint32_t i = first; i < begin; ++i) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (const double value = value_at(i); std::isfinite(value)) out.before = value;
    }
  } else {
    for (std::uint32_t i = begin; i > first && !out.before; --i)
      if (std::isfinite(counters.value[i - 1])) out.before = counters.value[i - 1];
  }
  const bool exact = end - begin <= columns;
  std::size_t column = 0;
  std::int64_t edge = from;  // where the column of the last point ends
  for (std::uint32_t i = begin; i < end; ++i) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (!std::isfinite(counters.value[i])) continue;
    const double value = value_at(i);
    const std::int64_t time = counters.time[i];
    ++out.n_points;
    if (exact || time >= edge) {
      out.time.push_back(time);
      out.count.push_back(1);
      out.low.push_back(value);
      out.high.push_back(value);
      out.last.push_back(value);
      while (!exact && time >= edge) edge = column_edge(from, to, ++column, columns);
      continue;
    }
    ++out.count.back();
    out.low.back() = std::min(out.low.back(), value);
    out.high.back() = std::max(out.high.back(), value);
    out.last.back() = value;
  }
  return out;
}

}  // namespace profd
