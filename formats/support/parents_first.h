// An order of the rows of a tree in which every parent stands before its children, whatever order the file
// has them in. Iterative: trees can be as deep as they have rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profd {

struct ParentsFirst {
  std::vector<std::uint32_t> order;     // rows; children of a node in order of their rows
  std::uint32_t on_cycle = 0xFFFFFFFF;  // a row that hangs on a cycle and so is not in `order`; else kNone
};

// parent[row] is a row or kNone for roots.
ParentsFirst parents_first(std::span<const std::uint32_t> parent);

}  // namespace profd
