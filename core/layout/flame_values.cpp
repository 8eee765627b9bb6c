#include "core/layout/flame_values.h"

#include "core/view/memo.h"

namespace profd {
namespace {

// Parents come before their children in a layout, so that one pass walks the other tree beside it.
template <class T>
Result<std::vector<Value>> walk(UnfoldedTree<T>& tree, const FlameLayout& layout, StopToken& stop) {
  std::vector<Value> values(layout.size(), Value(T{}));
  std::vector<std::uint32_t> node(layout.size(), kNone);
  // Where the last child was found: siblings stand in the same order in both trees, mostly.
  std::vector<std::uint32_t> hint(layout.size(), 0);
  for (std::uint32_t box = 0; box < layout.size(); ++box) {
    const std::uint32_t parent = layout.parent[box];
    if (parent == kNone) {
      node[box] = 0;
    } else if (layout.key[box] != kNoKey && node[parent] != kNone) {
      PROFD_CHECK(tree.expand(node[parent], stop));
      const auto& above = tree.node(node[parent]);
      for (std::uint32_t i = 0; i < above.n_children && node[box] == kNone; ++i) {
        const std::uint32_t at = (hint[parent] + i) % above.n_children;
        if (tree.node(above.first_child + at).key != layout.key[box]) continue;
        node[box] = above.first_child + at;
        hint[parent] = at + 1;
      }
    }
    if (node[box] != kNone) values[box] = Value(tree.node(node[box]).total);
  }
  return values;
}

}  // namespace

Result<std::vector<Value>> values_of_boxes(const Selection& other, const LayoutRequest& request,
                                           const FlameLayout& layout, StopToken stop) {
  return other.memo->with_tree(other, request.shape, request.focus, stop,
                               [&](auto& tree) { return walk(tree, layout, stop); });
}

}  // namespace profd
