// How sure a share is that samples tell.
#pragma once

#include <cmath>
#include <cstdint>

namespace profd::live {

// Half the interval of 95 % (Wilson's) around seen / all, as a share; 1 where there are no samples.
inline double half_interval(std::uint64_t seen, std::uint64_t all) {
  if (all == 0) return 1;
  constexpr double kZ = 1.959964;
  const double n = static_cast<double>(all);
  const double p = seen < all ? static_cast<double>(seen) / n : 1.0;
  return kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
}

}  // namespace profd::live
