#include "core/tree/stack_order.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace profd {
namespace {

// As many frames as fit into one number, which has the order of the stacks: each is one more than its id, and
// nothing behind the leaf comes before all.
class KeyMaker {
 public:
  explicit KeyMaker(std::uint32_t n_ids)
      : bits_(static_cast<unsigned>(std::bit_width(n_ids))), n_frames_(64 / bits_) {}

  std::uint32_t n_frames() const { return n_frames_; }
  std::uint64_t key(const StackRef& ref, std::uint32_t depth) const {
    if (depth >= ref.n) return 0;
    const std::uint32_t n = std::min(n_frames_, ref.n - depth);
    std::uint64_t key = 0;
    for (std::uint32_t i = 0; i < n; ++i) key = key << bits_ | (std::uint64_t{ref.frames[depth + i]} + 1);
    return key << (bits_ * (n_frames_ - n));
  }
  // No frame comes behind those of the key.
  bool ended(std::uint64_t key) const { return (key & ((std::uint64_t{1} << bits_) - 1)) == 0; }

 private:
  unsigned bits_;
  std::uint32_t n_frames_;
};

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

// By key, then from `depth` on.
void insertion_sort(StackRef* begin, StackRef* end, std::uint32_t depth) {
  const auto less = [depth](const StackRef& a, const StackRef& b) {
    return a.key != b.key ? a.key < b.key : less_from(a, b, depth);
  };
  for (StackRef* i = begin + 1; i < end; ++i) {
    const StackRef moving = *i;
    StackRef* to = i;
    while (to > begin && less(moving, to[-1])) {
      *to = to[-1];
      --to;
    }
    *to = moving;
  }
}

void sort_by_index(StackRef* begin, StackRef* end) {
  std::sort(begin, end, [](const StackRef& a, const StackRef& b) { return a.index < b.index; });
}

std::uint64_t median(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

struct Range {
  StackRef *begin, *end;
  std::uint32_t depth;
  bool has_keys;  // of the frames from that depth on
};

}  // namespace

void sort_refs(std::span<StackRef> refs, std::uint32_t n_ids) {
  assert(n_ids > 0);
  constexpr std::ptrdiff_t kSmall = 12;
  const KeyMaker keys(n_ids);
  std::vector<Range> pending{{refs.data(), refs.data() + refs.size(), 0, false}};
  while (!pending.empty()) {
    const auto [begin, end, depth, has_keys] = pending.back();
    pending.pop_back();
    if (end - begin <= 1) continue;
    const std::uint32_t below = depth + keys.n_frames();
    std::uint64_t all = 0, any = ~std::uint64_t{0};
    if (!has_keys) {
      std::swap(all, any);
      for (StackRef* ref = begin; ref < end; ++ref) {
        ref->key = keys.key(*ref, depth);
        all &= ref->key;
        any |= ref->key;
      }
    }
    if (end - begin <= kSmall) {
      insertion_sort(begin, end, below);
      continue;
    }
    if (all == any) {
      // Stacks of one group go on together for long: comparing runs of frames beats going key by key.
      if (keys.ended(all))
        sort_by_index(begin, end);
      else
        pending.push_back({begin, end, shared_depth({begin, end}, below), false});
      continue;
    }
    const std::uint64_t pivot = median(begin->key, begin[(end - begin) / 2].key, end[-1].key);
    StackRef *lower = begin, *upper = end;
    for (StackRef* i = begin; i < upper;) {
      if (i->key < pivot)
        std::swap(*lower++, *i++);
      else if (i->key > pivot)
        std::swap(*i, *--upper);
      else
        ++i;
    }
    pending.push_back({begin, lower, depth, true});
    pending.push_back({upper, end, depth, true});
    if (keys.ended(pivot))
      sort_by_index(lower, upper);
    else
      pending.push_back({lower, upper, below, false});
  }
}

}  // namespace profd
