#include "core/view/hottest.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "core/view/memo.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

constexpr std::size_t kMaxExpanded = 20'000;

// Best first: no stack below a box weighs more than the box, so once the heaviest thing left is a stack's own
// end, it is the next heaviest path.
template <class T>
Result<HeaviestPaths> search_paths(UnfoldedTree<T>& tree, std::size_t n, StopToken& stop) {
  struct Item {
    T bound;
    std::uint32_t node;
    bool is_end;
    bool operator<(const Item& other) const {
      if (bound != other.bound) return bound < other.bound;
      if (is_end != other.is_end) return other.is_end;
      return node > other.node;
    }
  };
  std::priority_queue<Item> queue;
  queue.push({tree.node(0).width, 0, false});
  HeaviestPaths out;
  std::size_t n_expanded = 0;
  while (!queue.empty() && out.paths.size() < n) {
    const Item item = queue.top();
    queue.pop();
    if (item.is_end) {
      HeaviestPath& hot = out.paths.emplace_back();
      hot.self = tree.node(item.node).self;
      hot.estimated = (tree.node(item.node).estimate & kSelfEstimated) != 0;
      for (std::uint32_t at = item.node; at != 0; at = tree.node(at).parent)
        hot.path.push_back(tree.node(at).key);
      std::reverse(hot.path.begin(), hot.path.end());
      continue;
    }
    if (n_expanded == kMaxExpanded) {
      out.exact = false;
      continue;
    }
    ++n_expanded;
    PROFD_CHECK(tree.expand(item.node, stop));
    const auto& node = tree.node(item.node);
    if (node.self != 0) queue.push({magnitude(node.self), item.node, true});
    for (std::uint32_t c = node.first_child; c < node.first_child + node.n_children; ++c)
      queue.push({tree.node(c).width, c, false});
  }
  return out;
}

template <class T>
Result<void> take_heaviest(UnfoldedTree<T>& tree, std::size_t n, StopToken& stop,
                           std::vector<Neighbour>& heaviest, std::size_t& n_all, Value& none) {
  PROFD_CHECK(tree.expand(0, stop));
  const auto& root = tree.node(0);
  std::vector<std::uint32_t> order(root.n_children);
  std::iota(order.begin(), order.end(), root.first_child);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (tree.node(a).width != tree.node(b).width) return tree.node(a).width > tree.node(b).width;
    return a < b;
  });
  for (auto at = order.begin(); at != middle; ++at)
    heaviest.push_back({tree.node(*at).key, tree.node(*at).total});
  n_all = order.size();
  none = root.self;
  return {};
}

template <class T>
Result<Neighbours> neighbours(const Selection& selection, Key key, std::size_t n, StopToken& stop) {
  Neighbours out;
  // Trees of their own: a hover must not push a tree that someone looks at out of the memo.
  PROFD_TRY(const auto up, UnfoldedTree<T>::make(selection, Shape::callers, {key}, stop));
  PROFD_CHECK(take_heaviest(*up, n, stop, out.callers, out.n_callers, out.no_caller));
  PROFD_TRY(const auto down, UnfoldedTree<T>::make(selection, Shape::callees, {key}, stop));
  PROFD_CHECK(take_heaviest(*down, n, stop, out.callees, out.n_callees, out.no_callee));
  out.total = up->node(0).total;
  return out;
}

}  // namespace

Result<HeaviestPaths> heaviest_paths(const Selection& selection, std::size_t n, StopToken stop) {
  return selection.memo->with_tree(selection, Shape::top_down, {}, stop,
                                   [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) {
                                     return search_paths(tree, n, while_held);
                                   });
}

void take_stated(const StatedView* stated, bool estimated, Key key, std::size_t n, Neighbours& around) {
  const bool known = stated != nullptr && stated->known[key] != 0;
  const bool has_calls = stated != nullptr && stated->has_calls;
  around.total_estimated = estimated && !known;
  around.calls_estimated = estimated;
  if (known) around.total = stated->total[key];
  if (!has_calls) return;
  around.calls_estimated = false;
  const auto take = [&](const std::vector<std::uint32_t>& first,
                        const std::vector<StatedView::Neighbour>& all, std::vector<Neighbour>& out) {
    out.clear();
    for (std::uint32_t i = first[key]; i < first[key + 1] && all[i].known && out.size() < n; ++i)
      out.push_back({all[i].key, all[i].total});
    // Those of unknown cost come last.
    around.calls_estimated |= first[key] != first[key + 1] && !all[first[key + 1] - 1].known;
    return std::size_t{first[key + 1] - first[key]};
  };
  around.n_callers = take(stated->first_caller, stated->caller, around.callers);
  around.n_callees = take(stated->first_callee, stated->callee, around.callees);
  around.no_caller = not_called(*stated, key, around.total);
  around.no_callee = stated->self[key];
}

Result<Neighbours> neighbours_of(const Selection& selection, Key key, std::size_t n, StopToken stop) {
  Neighbours around;
  if (key >= selection.boxes->keys->n_keys() || !states_neighbours(selection.stated.get(), key)) {
    const bool fractional = std::holds_alternative<Column<double>>(selection.sums->totals);
    PROFD_TRY(around, fractional ? neighbours<double>(selection, key, n, stop)
                                 : neighbours<std::int64_t>(selection, key, n, stop));
  }
  if (selection.estimated) take_stated(selection.stated.get(), true, key, n, around);
  return around;
}

}  // namespace profd
