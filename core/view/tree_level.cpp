#include <algorithm>
#include <numeric>

#include "core/support/checked.h"
#include "core/view/memo.h"
#include "core/view/table.h"

namespace profd {
namespace {

constexpr std::size_t kMaxLevelRows = 10000;

// The direct callers or callees of one function as the source states them; what is below them only the tree
// can tell.
template <class T>
Result<TreeLevel> stated_level(const Selection& selection, UnfoldedTree<T>& tree, const TreeRequest& request,
                               StopToken& stop) {
  const StatedView& stated = *selection.stated;
  const bool callers = request.shape == Shape::callers;
  const Key of = request.focus.front();
  const auto& first = callers ? stated.first_caller : stated.first_callee;
  const auto& all = callers ? stated.caller : stated.callee;
  PROFD_CHECK(tree.expand(0, stop));
  TreeLevel level;
  const bool known = stated.known[of] != 0;
  level.total = known ? stated.total[of] : Value(tree.node(0).total);
  level.self = callers ? not_called(stated, of, level.total) : stated.self[of];
  level.estimate = known ? kExact : callers ? kBothEstimated : kTotalEstimated;
  const std::size_t n = first[of + 1] - first[of];
  level.n_children = n;
  const std::size_t begin = std::min<std::size_t>(request.offset, n);
  const std::size_t end = begin + std::min({request.limit, kMaxLevelRows, n - begin});
  T left_out = 0;
  for (std::size_t i = begin; i < n; ++i) {
    const StatedView::Neighbour& child = all[first[of] + i];
    if (i >= end) {
      add_saturating(left_out, std::get<T>(child.total));
      continue;
    }
    const Result<std::uint32_t> node = tree.find({child.key}, stop);
    PROFD_CHECK(stop.status());
    if (node) PROFD_CHECK(tree.expand(*node, stop));
    level.key.push_back(child.key);
    level.child_total.push_back(child.total);
    level.child_self.emplace_back(node ? tree.node(*node).self : T{});
    level.has_children.push_back(node && tree.node(*node).n_children > 0 ? 1 : 0);
    const Estimate self = node ? tree.node(*node).estimate & kSelfEstimated : kSelfEstimated;
    level.child_estimate.push_back(child.known ? self : kBothEstimated);
  }
  level.total_left_out = left_out;
  return level;
}

template <class T>
Result<TreeLevel> level_of(const Selection& selection, UnfoldedTree<T>& tree, const TreeRequest& request,
                           StopToken& stop) {
  const bool neighbours = request.shape == Shape::callers || request.shape == Shape::callees;
  if (neighbours && selection.stated && selection.stated->has_calls && request.focus.size() == 1 &&
      request.path.empty())
    return stated_level(selection, tree, request, stop);
  PROFD_TRY(const std::uint32_t id, tree.find(request.path, stop));
  PROFD_CHECK(tree.expand(id, stop));
  const auto node = tree.node(id);
  TreeLevel level;
  level.self = node.self;
  level.total = node.total;
  level.estimate = node.estimate;
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
    if (tree.estimated()) level.child_estimate.push_back(child.estimate);
  }
  T left_out = 0;
  for (std::size_t i = end; i < order.size(); ++i) add_saturating(left_out, tree.node(order[i]).total);
  level.total_left_out = left_out;
  return level;
}

}  // namespace

Result<TreeLevel> tree_level(const Selection& selection, const TreeRequest& request, StopToken stop) {
  return selection.memo->with_tree(selection, request.shape, request.focus, stop,
                                   [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                     return level_of(selection, tree, request, while_held);
                                   });
}

}  // namespace profd
