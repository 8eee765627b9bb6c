// Sweeps over a whole context tree: sums of subtrees from the selves of their contexts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/context_tree.h"
#include "core/support/big_vector.h"
#include "core/support/stop.h"
#include "core/support/sums.h"

namespace profd {

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
