// Points of a counter for a screen: all of them where there is room, else the least, the most and the last of
// every column that has some.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/timeline.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Columns, all equally long, in order of time. Of a counter that tells changes, values are their sums since
// its first point.
struct CounterPoints {
  std::vector<std::int64_t> time;  // of the first point that it stands for
  std::vector<std::uint64_t> count;
  std::vector<double> low, high, last;
  std::uint64_t n_points = 0;    // in the window
  std::optional<double> before;  // the value that holds as the window begins
  [[nodiscard]] std::size_t size() const { return time.size(); }
};

// Of the window [from, to). Values that are not finite are passed over.
Result<CounterPoints> counter_points(const CounterTable& counters, std::uint32_t counter, std::int64_t from,
                                     std::int64_t to, std::uint32_t columns, StopToken& stop);

}  // namespace profd
