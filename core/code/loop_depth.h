// Loops of a graph of control.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace profd {

using Edge = std::pair<std::uint32_t, std::uint32_t>;  // from, to

// By node: how many loops it is in. On a walk in depth from node 0, which takes edges as they come, an edge
// to a node that the walk is below of makes that node the head of a loop; in the loop is, of what the walk
// finds below the head, all that leads back to it. Loops with one head are one. Where every loop has one way
// in, these are the loops that people see; of others one way in is taken for the head.
//
// Edges lead to nodes below `n_nodes`; double ones do no harm. What node 0 does not reach is in no loop. Time
// is nearly linear, memory linear.
std::vector<std::uint32_t> loop_depths(std::uint32_t n_nodes, const std::vector<Edge>& edges);

}  // namespace profd
