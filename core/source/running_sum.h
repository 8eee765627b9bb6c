// The type in which values are summed up.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace profd {

// Running sums may pass int64 on the way; a wider type keeps every difference exact.
template <class T>
using Running = std::conditional_t<std::is_same_v<T, double>, long double, __int128_t>;

inline std::int64_t narrowed(__int128_t sum) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (sum > Limits::max()) return Limits::max();
  if (sum < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(sum);
}
inline double narrowed(long double sum) {
  return static_cast<double>(sum);
}

}  // namespace profd
