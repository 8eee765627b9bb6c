// Lexicographic order of many stacks: multikey quicksort, which looks at every frame about once.
#pragma once

#include <cstdint>
#include <span>

namespace profd {

// A stack's frames from some common depth on, and the number it is known by.
struct StackRef {
  const std::uint32_t* frames = nullptr;
  std::uint32_t n = 0;
  std::uint32_t index = 0;
};

// Shorter stacks come before those they are a prefix of; equal stacks are in order of index.
// `depth`: frames before it are known to be equal in all.
void sort_refs(std::span<StackRef> refs, std::uint32_t depth = 0);

}  // namespace profd
