#include "core/compare/sample_windows.h"

#include <limits>

namespace profd {

std::optional<TimeWindows> time_windows(const SampleTable& samples) {
  if (samples.time.empty()) return std::nullopt;
  const auto [first, last] = std::minmax_element(samples.time.begin(), samples.time.end());
  static_assert(kNoTime == std::numeric_limits<std::int64_t>::min());
  if (*first == kNoTime || *first == *last) return std::nullopt;
  const double from = static_cast<double>(*first);
  return TimeWindows{from, (static_cast<double>(*last) - from) / static_cast<double>(kWindows)};
}

}  // namespace profd
