// Which nodes of a directed graph lie on a cycle together: its strongly connected components.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace profd {

// By node 0 .. n - 1 the number of its component; an edge lies on a cycle exactly when both its ends are in
// one component (an edge from a node to itself, too). `edges` (from, to) are in range. Linear, without
// recursion.
std::vector<std::uint32_t> find_components(std::uint32_t n,
                                           std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace profd
