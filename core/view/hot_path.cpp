#include "core/view/hot_path.h"

#include "core/view/memo.h"

namespace profd {
namespace {

// Of a node with children; the first of those that weigh the same.
template <class T>
std::uint32_t heaviest_child(const UnfoldedTree<T>& tree, const UnfoldedNode<T>& node) {
  std::uint32_t heaviest = node.first_child;
  for (std::uint32_t child = node.first_child; child < node.first_child + node.n_children; ++child)
    if (tree.node(child).width > tree.node(heaviest).width) heaviest = child;
  return heaviest;
}

template <class T>
Result<void> go_down(UnfoldedTree<T>& tree, const std::vector<Key>& from, std::size_t limit, HotPath& out,
                     StopToken& stop) {
  PROFD_TRY(std::uint32_t at, tree.find(from, stop));
  PROFD_CHECK(tree.expand(at, stop));
  if (out.key.empty()) {
    out.from_total = tree.node(at).total;
    out.from_estimate = tree.node(at).estimate;
  }
  while (tree.node(at).n_children > 0) {
    const std::uint32_t next = heaviest_child(tree, tree.node(at));
    const T parent = tree.node(at).width, width = tree.node(next).width;
    // Twice the child could overflow.
    if (width < parent - width) {
      out.end = HotPathEnd::spread;
      return {};
    }
    if (out.key.size() >= limit) {
      out.end = HotPathEnd::limit;
      return {};
    }
    PROFD_CHECK(tree.expand(next, stop));
    const auto& node = tree.node(next);
    out.key.push_back(node.key);
    out.self.emplace_back(node.self);
    out.total.emplace_back(node.total);
    out.estimate.push_back(node.estimate);
    out.has_children.push_back(node.n_children > 0 ? 1 : 0);
    at = next;
  }
  return {};
}

}  // namespace

Result<HotPath> hot_path(const Selection& selection, const HotPathRequest& request, StopToken stop) {
  HotPath out;
  std::vector<Key> from = request.from;
  if (from.empty()) {
    // What a source states of the calls of one function is only in the table of the root.
    PROFD_TRY(const TreeLevel first, tree_level(selection, {request.shape, request.focus, {}, 0, 1}, stop));
    out.from_total = first.total;
    out.from_estimate = first.estimate;
    if (first.key.empty()) return out;
    out.key = first.key;
    out.self = first.child_self;
    out.total = first.child_total;
    out.estimate = first.child_estimate.empty() ? std::vector<Estimate>{kExact} : first.child_estimate;
    out.has_children = first.has_children;
    if (first.has_children.front() == 0) return out;
    from = first.key;
  }
  PROFD_CHECK(selection.memo->with_tree(selection, request.shape, request.focus, stop,
                                        [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                          return go_down(tree, from, request.limit, out, while_held);
                                        }));
  return out;
}

}  // namespace profd
