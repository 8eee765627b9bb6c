// A series as a line of bars.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace profd {

// One bar a value, beside the largest; of more values than columns the largest of each group of neighbours.
inline std::string sparkline(std::span<const double> values, std::size_t columns) {
  static constexpr std::array kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = values.empty() ? 0 : std::max(0.0, *std::max_element(values.begin(), values.end()));
  const std::size_t n = std::min(values.size(), columns);
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = i * values.size() / n, end = std::max(begin + 1, (i + 1) * values.size() / n);
    double value = 0;
    for (std::size_t at = begin; at < end; ++at) value = std::max(value, values[at]);
    out += kBars[most <= 0 ? 0 : std::min<std::size_t>(7, static_cast<std::size_t>(value / most * 7.999))];
  }
  return out;
}

}  // namespace profd
