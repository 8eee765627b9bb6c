// Rows of a table by lane, then by an order within the lane, then by row: how timelines are sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/timeline.h"
#include "core/support/big_vector.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Within a lane: by begin, then the longer first; an unknown end is the longest.
inline bool span_before(std::int64_t begin_a, std::int64_t end_a, std::int64_t begin_b, std::int64_t end_b) {
  if (begin_a != begin_b) return begin_a < begin_b;
  if (end_a == end_b) return false;
  return end_a == kNoTime || (end_b != kNoTime && end_a > end_b);
}

// Empty where the rows stand so already: most sources write them in order. `lane(row)` is below n_lanes.
template <class Lane, class Before>
Result<BigVector<std::uint32_t>> order_rows(std::size_t n, std::size_t n_lanes, const Lane& lane,
                                            const Before& before, StopToken& stop) {
  const auto n_rows = static_cast<std::uint32_t>(n);
  std::uint32_t ordered = n_rows == 0 ? 0 : 1;
  for (; ordered < n_rows; ++ordered) {
    const auto above = lane(ordered - 1), here = lane(ordered);
    if (above != here ? above > here : before(ordered, ordered - 1)) break;
  }
  PROFD_CHECK(stop.status());
  if (ordered == n_rows) return BigVector<std::uint32_t>();
  BigVector<std::uint32_t> order(n);
  std::vector<std::uint32_t> first(n_lanes + 1, 0);
  for (std::uint32_t row = 0; row < n_rows; ++row) ++first[lane(row) + 1];
  for (std::size_t i = 0; i < n_lanes; ++i) first[i + 1] += first[i];
  {
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t row = 0; row < n_rows; ++row) order[next[lane(row)]++] = row;
  }
  for (std::size_t i = 0; i < n_lanes; ++i) {
    const auto begin = order.begin() + first[i], end = order.begin() + first[i + 1];
    if (end - begin < 2 || std::is_sorted(begin, end, before)) continue;
    PROFD_CHECK(stop.status());
    std::stable_sort(begin, end, before);
  }
  return order;
}

}  // namespace profd
