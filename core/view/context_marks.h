// Contexts of many ascending lists as a map of bits, which puts them in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/context_tree.h"
#include "core/support/executor.h"
#include "core/support/stop.h"

namespace profd {

struct ContextList {
  std::span<const std::uint32_t> contexts;  // ascending
  bool whole;                               // all of them, whatever their frame
};

// Sets the bits of the lists' contexts and clears all others; a word is 64 contexts, the first is the tree's.
// Of lists that are not whole those with keep[frame] != 0.
void mark_contexts(const std::vector<ContextList>& lists, const ContextTree& tree,
                   const std::vector<std::uint8_t>& keep, std::span<std::uint64_t> words,
                   const StopToken& stop, Executor& executor);

}  // namespace profd
