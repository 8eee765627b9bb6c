#include "core/model/context_tree.h"

namespace profd {

std::vector<std::uint32_t> compute_depths(const ContextTree& tree) {
  std::vector<std::uint32_t> depths(tree.size(), 0);
  for (std::size_t i = 1; i < depths.size(); ++i) depths[i] = depths[tree.parent[i]] + 1;
  return depths;
}

bool is_well_formed(const ContextTree& tree, std::size_t n_frames) {
  const std::size_t n = tree.size();
  if (n == 0 || tree.frame.size() != n || tree.subtree_end.size() != n) return false;
  if (tree.parent[0] != kNone || tree.frame[0] != kNone || tree.subtree_end[0] != n) return false;
  for (std::uint32_t i = 1; i < n; ++i) {
    if (tree.frame[i] >= n_frames) return false;
    if (tree.subtree_end[i] <= i || tree.subtree_end[i] > n) return false;
    const std::uint32_t parent = tree.parent[i];
    if (parent >= i || tree.subtree_end[i] > tree.subtree_end[parent]) return false;
    if (parent == i - 1) continue;
    // i must start right where the subtree of its previous sibling ends: walk up from i - 1 to it.
    std::uint32_t sibling = i - 1;
    while (tree.subtree_end[sibling] == i && tree.parent[sibling] != parent) sibling = tree.parent[sibling];
    if (tree.subtree_end[sibling] != i || tree.parent[sibling] != parent) return false;
    if (tree.frame[sibling] >= tree.frame[i]) return false;
  }
  return true;
}

ContextTree empty_tree() {
  return {Column<std::uint32_t>(std::vector<std::uint32_t>{kNone}),
          Column<std::uint32_t>(std::vector<std::uint32_t>{kNone}),
          Column<std::uint32_t>(std::vector<std::uint32_t>{1})};
}

}  // namespace profd
