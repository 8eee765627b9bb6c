#include "core/view/divided_tree.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/support/sums.h"
#include "core/view/match_marks.h"
#include "core/view/selection.h"

namespace profd {

template <class T>
DividedTree<T>::DividedTree(const Selection& selection, Shape shape, const std::vector<Key>& focus)
    : paths_(selection, shape, focus),
      keys_(selection.boxes->keys),
      saturated_(selection.sums->saturated),
      on_path_(keys_->n_keys(), 0) {}

template <class T>
std::size_t DividedTree<T>::memory() const {
  return paths_.memory() + on_path_.size() + shares_.size() * sizeof(double);
}

template <class T>
UnfoldedNode<T> DividedTree<T>::root() const {
  const auto& whole = paths_.root();
  Node root;
  root.total = root.width = whole.total;
  root.whole = true;
  root.exact = whole.exact;
  root.estimate = whole.exact ? kSelfEstimated : kBothEstimated;
  if (whole.key != kNone) root.frame = keys_->example[whole.key];
  return root;
}

template <class T>
void DividedTree<T>::mark_path(const Nodes& nodes, std::uint32_t id, bool on) {
  for (std::uint32_t at = id; at != kNone; at = nodes[at].parent)
    if (const Key key = key_of(nodes[at]); key != kNone) on_path_[key] = on ? 1 : 0;
}

template <class T>
void DividedTree<T>::expand(Nodes& nodes, std::uint32_t id) {
  const Node& of = nodes[id];
  typename CallPaths<T>::Division division;
  mark_path(nodes, id, true);
  paths_.divide({key_of(of), of.total, of.exact, of.whole, of.cut}, on_path_, division);
  mark_path(nodes, id, false);
  const std::vector<std::uint32_t>& rank = keys_->name_rank;
  std::sort(division.parts.begin(), division.parts.end(),
            [&](const auto& a, const auto& b) { return rank[a.key] < rank[b.key]; });
  const auto first = static_cast<std::uint32_t>(nodes.size());
  for (const auto& part : division.parts) {
    Node child;
    child.parent = id;
    child.key = part.key;
    child.frame = keys_->example[part.key];
    child.width = child.total = part.total;
    child.exact = part.exact;
    child.whole = part.whole;
    child.cut = part.cut;
    child.estimate = part.exact ? kSelfEstimated : kBothEstimated;
    nodes.push_back(child);
  }
  Node& node = nodes[id];
  node.first_child = first;
  node.n_children = static_cast<std::uint32_t>(division.parts.size());
  node.self = division.self;
  if (division.self_exact) node.estimate = static_cast<Estimate>(node.estimate & ~kSelfEstimated);
  node.expanded = true;
}

template <class T>
Result<void> DividedTree<T>::find_shares(const MatchMarks& marks, StopToken& stop) {
  if (shares_of_ == marks.found) return {};
  std::vector<double> shares = paths_.shares(marks.found->matches, stop);
  PROFD_CHECK(stop.status());
  shares_ = std::move(shares);
  shares_of_ = marks.found;
  return {};
}

template <class T>
Result<UnfoldedMatching<T>> DividedTree<T>::matching(const Nodes& nodes, std::uint32_t id,
                                                     const MatchMarks& marks, StopToken& stop) {
  PROFD_CHECK(find_shares(marks, stop));
  UnfoldedMatching<T> out;
  std::vector<std::uint32_t> todo{id};
  while (!todo.empty()) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const Node& node = nodes[todo.back()];
    todo.pop_back();
    if (node.key != kNone && marks.matches(node.key)) {
      out.any = true;
      out.total = add(out.total, node.total, saturated_);
    } else if (node.expanded) {
      for (std::uint32_t c = 0; c < node.n_children; ++c) todo.push_back(node.first_child + c);
    } else if (!node.cut && shares_[node.key] > 0) {
      out.any = true;
      double part = static_cast<double>(node.total) * shares_[node.key];
      if constexpr (std::is_same_v<T, std::int64_t>) part = std::round(part);
      out.total = add(out.total, std::min(node.total, static_cast<T>(part)), saturated_);
    }
  }
  return out;
}

template <class T>
Result<bool> DividedTree<T>::has_match(const Nodes& nodes, std::uint32_t id, const MatchMarks& marks,
                                       StopToken& stop) {
  PROFD_CHECK(find_shares(marks, stop));
  const Node& node = nodes[id];
  const Key key = key_of(node);
  if (key == kNone) return !marks.none;
  if (node.key != kNone && marks.matches(key)) return true;
  if (node.cut || (node.key != kNone && shares_[key] <= 0)) return false;
  mark_path(nodes, id, true);
  std::vector<std::uint8_t> matches = marks.found->matches;
  if (node.key == kNone) matches[key] = 0;
  const bool found = paths_.reaches(key, matches, on_path_, stop);
  mark_path(nodes, id, false);
  PROFD_CHECK(stop.status());
  return found;
}

template class DividedTree<std::int64_t>;
template class DividedTree<double>;

}  // namespace profd
