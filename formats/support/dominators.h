// Dominators of a graph: d dominates n when every way from the root to n leads through d.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace profd {

// Over nodes 0 .. n - 1, node 0 being the root. Nodes that cannot be reached from it are in no range and not
// in `order`.
struct Dominators {
  std::vector<std::uint32_t> idom;   // the nearest dominator; of the root kNone
  std::vector<std::uint32_t> order;  // reachable nodes, each after its dominators

  // Whether `a` dominates `b`; both reachable.
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return first[a] <= first[b] && first[b] < last[a];
  }
  std::vector<std::uint32_t> first, last;  // ranges of the dominator tree's preorder
};

// `edges` (from, to) are in range; n is at least 1. Lengauer and Tarjan, without recursion.
Dominators find_dominators(std::uint32_t n, std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace profd
