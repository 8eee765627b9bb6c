// Histogram: how many inputs have how much of one thing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/compare/spread.h"

namespace profd {

// Bins of equal width. A value between two of them is of the upper one, the largest value of the last.
struct Histogram {
  double low = 0, high = 0;  // the smallest value, and the largest
  std::vector<std::uint32_t> counts;

  // Where bin `i` begins; of one more than there are, where the last ends.
  [[nodiscard]] double edge(std::size_t i) const {
    if (i >= counts.size()) return high;
    return low + (high - low) * (static_cast<double>(i) / static_cast<double>(counts.size()));
  }
};

// As many bins as the root of the number of values, at most `most`; one where all values are the same.
// Nothing when no input has a value, and when they are so far apart that a double does not hold it.
std::optional<Histogram> histogram_of(ValuesByInput values, std::size_t most);

}  // namespace profd
