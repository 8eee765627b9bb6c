// Thin: fewer of a series than there are, so that no peak is lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace profd {

// Of values in order the numbers of at most `most` of them: of each group of neighbours the largest, of those
// that are the same the first. Groups differ by one value at most. All where there are no more than that.
inline std::vector<std::size_t> largest_of_neighbours(std::span<const double> values, std::size_t most) {
  const std::size_t n = std::min(values.size(), most);
  std::vector<std::size_t> out;
  out.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(i * values.size() / n),
               end = static_cast<std::ptrdiff_t>((i + 1) * values.size() / n);
    const auto largest = std::max_element(values.begin() + begin, values.begin() + end);
    out.push_back(static_cast<std::size_t>(largest - values.begin()));
  }
  return out;
}

}  // namespace profd
