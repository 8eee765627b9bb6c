// Numbers of two sides, before and after, whole or fractional.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/support/sums.h"

namespace profd {

// after - before; clamped, and `fits` false, where that is no int64.
template <class T>
T change_between(T before, T after, bool& fits) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    T change = 0;
    if (!__builtin_sub_overflow(after, before, &change)) return change;
    fits = false;
    return before < 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    return after - before;
  }
}

template <class T>
T larger_of(T before, T after) {
  return std::max(magnitude(before), magnitude(after));
}

template <class T>
T difference_of(T before, T after, bool& fits) {
  return magnitude(change_between(before, after, fits));
}

}  // namespace profd
