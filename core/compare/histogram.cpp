#include "core/compare/histogram.h"

#include <algorithm>
#include <cmath>

namespace profd {

std::optional<Histogram> histogram_of(ValuesByInput values, std::size_t most) {
  std::vector<double> known;
  for (const auto& value : values)
    if (value && std::isfinite(*value)) known.push_back(*value);
  if (known.empty() || most == 0) return std::nullopt;
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  Histogram out;
  out.low = *low;
  out.high = *high;
  const double width = out.high - out.low;
  if (!std::isfinite(width)) return std::nullopt;
  const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(known.size()))));
  const std::size_t n = width > 0 ? std::clamp<std::size_t>(root, 1, most) : 1;
  out.counts.assign(n, 0);
  for (const double value : known) {
    const double place = width > 0 ? (value - out.low) / width * static_cast<double>(n) : 0;
    ++out.counts[std::min(n - 1, static_cast<std::size_t>(place))];
  }
  return out;
}

}  // namespace profd
