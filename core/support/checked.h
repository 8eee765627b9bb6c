// Checked and saturating arithmetic on values that come from files.
#pragma once

#include <cstdint>
#include <limits>

namespace profd {

// a += b; on overflow clamps to the nearest limit and returns false.
inline bool add_saturating(std::int64_t& a, std::int64_t b) {
  std::int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) {
    a = sum;
    return true;
  }
  a = b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  return false;
}
inline bool add_saturating(double& a, double b) {
  a += b;
  return true;
}

template <class T>
inline bool mul_overflows(T a, T b, T& product) {
  return __builtin_mul_overflow(a, b, &product);
}

}  // namespace profd
