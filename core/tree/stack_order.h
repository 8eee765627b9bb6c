// Lexicographic order of many stacks: multikey quicksort, which looks at every frame about once.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace profd {

// A stack's frames from some common depth on, and the number it is known by.
struct StackRef {
  const std::uint32_t* frames = nullptr;
  std::uint32_t n = 0;
  std::uint32_t index = 0;
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

// Shorter stacks come before those they are a prefix of; equal stacks are in order of index.
// `depth`: frames before it are known to be equal in all.
void sort_refs(std::span<StackRef> refs, std::uint32_t depth = 0);

}  // namespace profd
