#include <algorithm>
#include <numeric>

#include "core/support/checked.h"
#include "core/view/memo.h"
#include "core/view/table.h"

namespace profd {
namespace {

constexpr std::size_t kMaxLevelRows = 10000;

template <class T>
Result<TreeLevel> level_of(UnfoldedTree<T>& tree, const TreeRequest& request, StopToken& stop) {
  PROFD_TRY(const std::uint32_t id, tree.find(request.path, stop));
  PROFD_CHECK(tree.expand(id, stop));
  const auto node = tree.node(id);
  TreeLevel level;
  level.self = node.self;
  level.total = node.total;
  level.n_children = node.n_children;
  std::vector<std::uint32_t> order(node.n_children);
  std::iota(order.begin(), order.end(), node.first_child);
  const std::size_t begin = std::min<std::size_t>(request.offset, order.size());
  const std::size_t end = begin + std::min({request.limit, kMaxLevelRows, order.size() - begin});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(end), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      if (tree.node(a).width != tree.node(b).width)
                        return tree.node(a).width > tree.node(b).width;
                      return a < b;
                    });
  for (std::size_t i = begin; i < end; ++i) {
    PROFD_CHECK(tree.expand(order[i], stop));
    const auto& child = tree.node(order[i]);
    level.key.push_back(child.key);
    level.child_self.emplace_back(child.self);
    level.child_total.emplace_back(child.total);
    level.has_children.push_back(child.n_children > 0 ? 1 : 0);
  }
  T left_out = 0;
  for (std::size_t i = end; i < order.size(); ++i) add_saturating(left_out, tree.node(order[i]).total);
  level.total_left_out = left_out;
  return level;
}

}  // namespace

Result<TreeLevel> tree_level(const Selection& selection, const TreeRequest& request, StopToken stop) {
  return selection.memo->with_tree(
      selection, request.shape, request.focus, stop,
      [&]<class T>(UnfoldedTree<T>& tree) { return level_of(tree, request, stop); });
}

}  // namespace profd
