// Sweeps over a whole context tree: sums of subtrees from the selves of their contexts.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/model/context_tree.h"
#include "core/support/big_vector.h"
#include "core/support/checked.h"
#include "core/support/stop.h"

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

// By context, the sum over its subtree of self values, or of their magnitudes when `absolute`: then the rows
// of one context are added up first, so that it does not matter how a source splits them. Empty when stopped.
template <class T>
BigVector<T> subtree_sums(const ContextTree& tree, const Column<std::uint32_t>& contexts,
                          const Column<T>& values, bool absolute, bool saturated, StopToken& stop) {
  BigVector<T> sums(tree.size(), T{});
  for (std::size_t row = 0; row < contexts.size(); ++row) {
    T& sum = sums[contexts[row]];
    sum = add(sum, finite(values[row]), saturated);
  }
  if (absolute) {
    for (T& sum : sums) sum = magnitude(sum);
  }
  const std::uint32_t* const parent = tree.parent.data();
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  for (std::size_t end = sums.size(); end > 1;) {
    if (stop.stop_requested()) return {};
    const std::size_t begin = end > kBlock + 1 ? end - kBlock : 1;
    if (saturated) {
      for (std::size_t c = end; c-- > begin;) add_saturating(sums[parent[c]], sums[c]);
    } else {
      for (std::size_t c = end; c-- > begin;) sums[parent[c]] = wrapping_add(sums[parent[c]], sums[c]);
    }
    end = begin;
  }
  return sums;
}

}  // namespace profd
