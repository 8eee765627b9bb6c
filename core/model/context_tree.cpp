#include "core/model/context_tree.h"

#include <algorithm>

namespace profd {

bool is_well_formed(const ContextTree& tree, std::size_t n_frames) {
  return is_well_formed(tree, n_frames, 0, tree.size());
}

bool is_well_formed(const ContextTree& tree, std::size_t n_frames, std::size_t begin, std::size_t end) {
  const std::size_t n = tree.size();
  if (n == 0 || n > kNone || tree.frame.size() != n || tree.subtree_end.size() != n) return false;
  const std::uint32_t* const parents = tree.parent.data();
  const std::uint32_t* const frames = tree.frame.data();
  const std::uint32_t* const ends = tree.subtree_end.data();
  if (begin == 0 && (parents[0] != kNone || frames[0] != kNone || ends[0] != n)) return false;
  for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) {
    if (frames[i] >= n_frames) return false;
    if (ends[i] <= i || ends[i] > n) return false;
    const std::uint32_t parent = parents[i];
    if (parent >= i || ends[i] > ends[parent]) return false;
    if (parent == i - 1) continue;
    // i must start right where the subtree of its previous sibling ends: walk up from i - 1 to it. Parents
    // are checked on the way, since other parts of the tree may not have been.
    std::size_t sibling = i - 1;
    while (ends[sibling] == i && parents[sibling] != parent) {
      if (parents[sibling] >= sibling) return false;
      sibling = parents[sibling];
    }
    if (ends[sibling] != i || parents[sibling] != parent) return false;
    if (frames[sibling] >= frames[i]) return false;
  }
  return true;
}

}  // namespace profd
