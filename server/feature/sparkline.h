// A series as a line of bars.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "core/compare/thin.h"

namespace profd {

// One bar a value, beside the largest; of more values than columns the largest of each group of neighbours.
inline std::string sparkline(std::span<const double> values, std::size_t columns) {
  static constexpr std::array kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = values.empty() ? 0 : std::max(0.0, *std::max_element(values.begin(), values.end()));
  std::string out;
  for (const std::size_t at : largest_of_neighbours(values, columns)) {
    const double part = most > 0 ? std::max(0.0, values[at]) / most : 0;
    out += kBars[std::min<std::size_t>(7, static_cast<std::size_t>(part * 7.999))];
  }
  return out;
}

}  // namespace profd
