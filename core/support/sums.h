// Sums of values that come from files: finite, and without the undefined behaviour of signed overflow.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/support/checked.h"

namespace profd {

// A value that is not finite would poison every sum above it; it counts as nothing.
inline std::int64_t finite(std::int64_t value) {
  return value;
}
inline double finite(double value) {
  return std::isfinite(value) ? value : 0.0;
}

inline std::int64_t magnitude(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<std::int64_t>::max();
  return value < 0 ? -value : value;
}
inline double magnitude(double value) {
  return std::fabs(value);
}

// a + b and a - b without the undefined behaviour of signed overflow.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

// a + b; clamped when the metric is known to overflow. Else it fits: MetricInfo::saturated promises that
// Σ|self| does, and should a file lie about that, the sum wraps and nothing worse.
template <class T>
T add(T a, T b, bool saturated) {
  if (!saturated) return wrapping_add(a, b);
  add_saturating(a, b);
  return a;
}
template <class T>
T subtract(T a, T b, bool saturated) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    T difference;
    if (!__builtin_sub_overflow(a, b, &difference) || !saturated) return difference;
    return b < 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    return a - b;
  }
}

}  // namespace profd
