#include "core/tree/stack_order.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace profd {
namespace {

// The frame at `depth` as a sort key; a stack that ended sorts first.
inline std::uint64_t key_at(const StackRef& ref, std::uint32_t depth) {
  return depth < ref.n ? std::uint64_t{ref.frames[depth]} + 1 : 0;
}

bool less_from(const StackRef& a, const StackRef& b, std::uint32_t depth) {
  const std::uint32_t n = std::min(a.n, b.n);
  if (depth < n) {
    const std::uint32_t d = depth + common_frames(a.frames + depth, b.frames + depth, n - depth);
    if (d < n) return a.frames[d] < b.frames[d];
  }
  if (a.n != b.n) return a.n < b.n;
  return a.index < b.index;
}

// How many leading frames all of them share; `depth` of them are known to be shared.
std::uint32_t shared_depth(std::span<const StackRef> refs, std::uint32_t depth) {
  const StackRef& first = refs.front();
  std::uint32_t shared = first.n;
  for (const StackRef& ref : refs.subspan(1)) {
    shared = std::min(shared, ref.n);
    if (shared <= depth) return depth;
    shared = depth + common_frames(first.frames + depth, ref.frames + depth, shared - depth);
  }
  return shared;
}

void insertion_sort(StackRef* begin, StackRef* end, std::uint32_t depth) {
  for (StackRef* i = begin + 1; i < end; ++i) {
    const StackRef moving = *i;
    StackRef* to = i;
    while (to > begin && less_from(moving, to[-1], depth)) {
      *to = to[-1];
      --to;
    }
    *to = moving;
  }
}

std::uint64_t median(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

struct Range {
  std::size_t begin, end;
  std::uint32_t depth;
};

}  // namespace

void sort_refs(std::span<StackRef> refs, std::uint32_t start_depth) {
  constexpr std::size_t kSmall = 12;
  std::vector<Range> pending{{0, refs.size(), start_depth}};
  while (!pending.empty()) {
    const auto [begin, end, known_depth] = pending.back();
    pending.pop_back();
    StackRef* base = refs.data();
    if (end - begin <= kSmall) {
      if (end - begin > 1) insertion_sort(base + begin, base + end, known_depth);
      continue;
    }
    const std::size_t n = end - begin;
    // Stacks of one group go on together for long: comparing runs of frames beats partitioning level by
    // level.
    const std::uint32_t depth = shared_depth(refs.subspan(begin, n), known_depth);
    const std::uint64_t pivot =
        median(key_at(base[begin], depth), key_at(base[begin + n / 2], depth), key_at(base[end - 1], depth));
    std::size_t lower = begin, i = begin, upper = end;
    while (i < upper) {
      const std::uint64_t key = key_at(base[i], depth);
      if (key < pivot)
        std::swap(base[lower++], base[i++]);
      else if (key > pivot)
        std::swap(base[i], base[--upper]);
      else
        ++i;
    }
    if (lower - begin > 1) pending.push_back({begin, lower, depth});
    if (end - upper > 1) pending.push_back({upper, end, depth});
    if (upper - lower > 1) {
      if (pivot == 0) {
        std::sort(base + lower, base + upper,
                  [](const StackRef& a, const StackRef& b) { return a.index < b.index; });
      } else {
        pending.push_back({lower, upper, depth + 1});
      }
    }
  }
}

}  // namespace profd
