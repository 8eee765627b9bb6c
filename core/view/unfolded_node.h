// What unfolded trees are made of, whether their nodes stand for contexts or for parts of divided costs.
#pragma once

#include <cstdint>

#include "core/view/keys.h"
#include "core/view/stated.h"

namespace profd {

template <class T>
struct UnfoldedNode {
  std::uint32_t parent = kNone;
  Key key = kNone;                                // kNone at the root
  std::uint32_t frame = kNone;                    // of one of its contexts
  std::uint32_t first_child = 0, n_children = 0;  // a run of nodes in order of name
  std::uint32_t block = kNone, n_cursors = 0;
  std::uint64_t offset = 0;
  T width{}, total{};  // Σ|self| and Σ self of the stacks through here
  T self{};            // known once expanded
  bool expanded = false;
  Estimate estimate = kExact;                      // of self, once that is known, and total
  bool exact = false, whole = false, cut = false;  // divided: as CallPaths::Part
};

// The stacks with a match at a node or below it, each once.
template <class T>
struct UnfoldedMatching {
  bool any = false;
  T total{};
};

}  // namespace profd
