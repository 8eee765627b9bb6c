// ContextTree: the calling-context tree in depth-first preorder.
// Invariants: context 0 is the root and has no frame; parent[i] < i; the subtree of i is the id range
// [i, subtree_end[i]); children of one context are ordered by frame id and have distinct frames.
#pragma once

#include <cstdint>
#include <vector>

#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

struct ContextTree {
  Column<std::uint32_t> parent;  // kNone for the root
  Column<std::uint32_t> frame;   // FrameId value; kNone for the root
  Column<std::uint32_t> subtree_end;

  std::size_t size() const { return parent.size(); }
};

// First child of c is c + 1 when c + 1 < subtree_end[c]; next sibling of x is subtree_end[x].
template <class Visit>
void for_each_child(const ContextTree& tree, std::uint32_t context, Visit visit) {
  const std::uint32_t end = tree.subtree_end[context];
  for (std::uint32_t child = context + 1; child < end; child = tree.subtree_end[child]) visit(child);
}

// Checks every invariant above in one pass; used on trees that come from a file.
bool is_well_formed(const ContextTree& tree, std::size_t n_frames);
// The same for the contexts [begin, end) only: the tree is well formed when every part of it is, so that
// parts can be checked side by side.
bool is_well_formed(const ContextTree& tree, std::size_t n_frames, std::size_t begin, std::size_t end);

}  // namespace profd
