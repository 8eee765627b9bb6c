// Lexicographic order of many stacks: multikey quicksort by several frames at a time, which are kept beside
// the stack, so that its frames are looked at about once.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/support/id.h"

namespace profd {

// A stack's frames from some common depth on, and the number it is known by.
struct StackRef {
  const std::uint32_t* frames = nullptr;
  std::uint32_t n = 0;
  std::uint32_t index = 0;
  std::uint64_t key = 0;  // of sort_refs()
};

// How many frames a and b, of `n` each, have in common before the first that differs. Two at a time.
inline std::uint32_t common_frames(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t n) {
  std::uint32_t same = 0;
  for (; same + 2 <= n; same += 2) {
    std::uint64_t x, y;
    std::memcpy(&x, a + same, sizeof x);
    std::memcpy(&y, b + same, sizeof y);
    if (x != y) break;
  }
  while (same < n && a[same] == b[same]) ++same;
  return same;
}

// Shorter stacks come before those they are a prefix of; equal stacks are in order of index. Every frame is
// less than `n_ids`: the fewer there are, the more of them are compared at once.
void sort_refs(std::span<StackRef> refs, std::uint32_t n_ids = kNone);

}  // namespace profd
