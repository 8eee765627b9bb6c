#include "core/tree/stack_ranges.h"

#include <algorithm>
#include <bit>

#include "core/support/hash.h"
#include "core/tree/stack_order.h"

namespace profd {
namespace {

// So few separators are compared one by one.
constexpr std::uint32_t kFewStacks = 2;

// Goes on with the hash of frames from `begin` to `end`, both even.
std::uint64_t hash_frames(std::uint64_t hash, const std::uint32_t* frames, std::size_t begin,
                          std::size_t end) {
  for (std::size_t at = begin; at < end; at += 2) {
    std::uint64_t pair;
    std::memcpy(&pair, frames + at, sizeof pair);
    hash = hash_combine(hash, pair);
  }
  return hash;
}

// Short steps near the root, where most stacks part.
std::uint32_t next_depth(std::uint32_t depth) {
  return depth + (depth < 4 ? 2 : std::max(4u, depth / 8 * 2));
}

}  // namespace

StackRanges::StackRanges(const std::vector<std::vector<std::uint32_t>>& separators) {
  for (const std::vector<std::uint32_t>& separator : separators) {
    separators_.push_back({frames_.size(), static_cast<std::uint32_t>(separator.size())});
    frames_.insert(frames_.end(), separator.begin(), separator.end());
    deepest_ = std::max(deepest_, separator.size());
  }
  std::vector<Node> level{{0, 0, static_cast<std::uint32_t>(separators.size())}}, all;
  for (std::uint32_t depth = 2; depth <= deepest_; depth = next_depth(depth)) {
    add_level(depth, level);
    if (level.empty()) break;
    depths_.push_back(depth);
    all.insert(all.end(), level.begin(), level.end());
  }
  make_table(all);
}

// From the nodes of one level to those of the next.
void StackRanges::add_level(std::uint32_t depth, std::vector<Node>& level) const {
  std::vector<Node> next;
  for (const Node& node : level) {
    if (node.last - node.first <= kFewStacks) continue;
    for (std::uint32_t first = node.first, last = 0; first < node.last; first = last) {
      last = first + 1;
      const auto frames = at(first);
      if (frames.size() < depth) continue;
      while (last < node.last && at(last).size() >= depth &&
             common_frames(frames.data(), at(last).data(), depth) == depth)
        ++last;
      next.push_back({mix64(hash_frames(0, frames.data(), 0, depth) + depth), first, last});
    }
  }
  level = std::move(next);
}

void StackRanges::make_table(const std::vector<Node>& nodes) {
  table_.resize(std::bit_ceil(nodes.size() * 2 + 2));
  for (const Node& node : nodes) {
    std::uint64_t i = node.key & (table_.size() - 1);
    while (table_[i].last != 0 && table_[i].key != node.key) i = (i + 1) & (table_.size() - 1);
    if (table_[i].last == 0) table_[i] = node;
  }
}

const StackRanges::Node* StackRanges::find_node(std::uint64_t key) const {
  const std::uint64_t mask = table_.size() - 1;
  for (std::uint64_t i = key & mask; table_[i].last != 0; i = (i + 1) & mask)
    if (table_[i].key == key) return &table_[i];
  return nullptr;
}

// Down the levels while the stack begins like some separators, then among those by comparing.
std::uint32_t StackRanges::find(const std::uint32_t* frames, std::size_t n) const {
  std::uint32_t first = 0, last = static_cast<std::uint32_t>(separators_.size());
  std::uint32_t known = 0;  // leading frames that the stack has in common with all of first to last
  std::uint64_t hash = 0;
  for (const std::uint32_t depth : depths_) {
    if (last - first <= kFewStacks || depth > n) break;
    hash = hash_frames(hash, frames, known, depth);
    const Node* node = find_node(mix64(hash + depth));
    if (!node) break;
    const auto separator = at(node->first);
    if (common_frames(separator.data() + known, frames + known, depth - known) < depth - known) break;
    first = node->first;
    last = node->last;
    known = depth;
  }
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    const auto separator = at(middle);
    const auto both = static_cast<std::uint32_t>(std::min(n, separator.size()));
    const std::uint32_t same = known + common_frames(separator.data() + known, frames + known, both - known);
    const bool before = same < both ? frames[same] < separator[same] : n < separator.size();
    if (before)
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

std::uint32_t StackRanges::shared(std::size_t range) const {
  if (range == 0 || range + 1 == size()) return 0;
  const auto begin = at(range - 1), end = at(range);
  return common_frames(begin.data(), end.data(),
                       static_cast<std::uint32_t>(std::min(begin.size(), end.size())));
}

// No stack lies between one and the same with the least frame behind it.
bool StackRanges::whole(std::size_t range) const {
  if (range == 0 || range + 1 == size()) return false;
  const auto begin = at(range - 1), end = at(range);
  return end.size() == begin.size() + 1 && end.back() == 0 && shared(range) == begin.size();
}

}  // namespace profd
