#include "core/live/contexts.h"

#include "core/support/hash.h"

namespace profd::live {
namespace {

std::uint64_t hash_of(ContextNumber parent, MethodId method) {
  const std::uint64_t product = (std::uint64_t{parent} << 32 | method) * 0x9E3779B97F4A7C15ull;
  return product ^ (product >> 29);
}

}  // namespace

Contexts::Contexts(std::size_t most) : most_(most), nodes_(1), slots_(1024) {}

LaneRoots Contexts::add_lane(std::uint32_t lane) {
  const auto first = static_cast<ContextNumber>(nodes_.size());
  nodes_.push_back({kNothingOpen, 0, 0, lane});
  nodes_.push_back({kNotKnown, first, 0, lane});
  nodes_.push_back({kMoreContexts, first, 0, lane});
  return {first, first + 1, first + 2};
}

ContextNumber Contexts::find(ContextNumber parent, MethodId method) const {
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t i = hash_of(parent, method) & mask;; i = (i + 1) & mask) {
    const ContextNumber found = slots_[i];
    if (found == 0 || (nodes_[found].parent == parent && nodes_[found].method == method)) return found;
  }
}

ContextNumber Contexts::add(ContextNumber parent, MethodId method, std::uint32_t lane) {
  if ((n_used_ + 1) * 2 > slots_.size()) grow();
  const auto added = static_cast<ContextNumber>(nodes_.size());
  nodes_.push_back({method, parent, 0, lane});
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t i = hash_of(parent, method) & mask;
  while (slots_[i] != 0) i = (i + 1) & mask;
  slots_[i] = added;
  ++n_used_;
  return added;
}

ContextNumber Contexts::find_or_add(ContextNumber parent, MethodId method, ContextNumber more) {
  ContextNumber found = find(parent, method);
  if (found == 0 && n_used_ < most_) found = add(parent, method, nodes_[parent].lane);
  if (found != 0) {
    nodes_[parent].recent = found;
    return found;
  }
  ++n_refused_;
  if (parent == more) return more;
  found = find(more, method);
  // A quarter more of them, so that methods keep their own time a while longer.
  if (found == 0 && n_used_ < most_ + most_ / 4) found = add(more, method, nodes_[more].lane);
  return found == 0 ? more : found;
}

void Contexts::grow() {
  std::vector<ContextNumber> old(slots_.size() * 2);
  old.swap(slots_);
  const std::uint64_t mask = slots_.size() - 1;
  for (const ContextNumber context : old) {
    if (context == 0) continue;
    std::uint64_t i = hash_of(nodes_[context].parent, nodes_[context].method) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = context;
  }
}

}  // namespace profd::live
