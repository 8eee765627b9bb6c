#include "core/view/paired_tree.h"

#include <algorithm>
#include <utility>

namespace profd {
namespace {

Value zero_of(const Selection& selection) {
  return std::visit([](auto value) -> Value { return decltype(value){}; }, selection.sums->total);
}

}  // namespace

Result<PairedTree> PairedTree::make(ComparisonPtr comparison, Shape shape, const std::vector<Key>& focus,
                                    StopToken& stop) {
  PairedTree out;
  out.child_of_key_.assign(comparison->joint.n_keys(), kNone);
  Node root;
  for (const Side side : kSides) {
    Tree& tree = out.trees_[index_of(side)];
    PROFD_TRY(tree, make_side(*comparison, side, shape, focus, stop));
    if (!std::holds_alternative<std::monostate>(tree)) root.in[index_of(side)] = 0;
  }
  out.comparison_ = std::move(comparison);
  out.nodes_.push_back(root);
  return out;
}

Result<PairedTree::Tree> PairedTree::make_side(const Comparison& comparison, Side side, Shape shape,
                                               const std::vector<Key>& focus, StopToken& stop) {
  std::vector<Key> own;
  for (const Key joint : focus) {
    const Key key =
        joint < comparison.joint.n_keys() ? comparison.joint.key_in[index_of(side)][joint] : kNone;
    if (key == kNone) return Tree();
    own.push_back(key);
  }
  const Selection& selection = comparison.side(side);
  return std::visit(
      [&](const auto& totals) -> Result<Tree> {
        using T = std::remove_cvref_t<decltype(totals[0])>;
        PROFD_TRY(auto tree, UnfoldedTree<T>::make(selection, shape, own, stop));
        return Tree(std::move(tree));
      },
      selection.sums->totals);
}

Result<void> PairedTree::expand_side(const Node& node, Side side, StopToken& stop) {
  return std::visit(
      [&](auto& tree) -> Result<void> {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(tree)>, std::monostate>)
          return {};
        else
          return tree->expand(node.in[index_of(side)], stop);
      },
      trees_[index_of(side)]);
}

void PairedTree::add_children(const Node& node, Side side, std::vector<Node>& children) {
  const std::size_t i = index_of(side);
  std::visit(
      [&](const auto& tree) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(tree)>, std::monostate>) {
          const auto& own = tree->node(node.in[i]);
          for (std::uint32_t child = own.first_child; child < own.first_child + own.n_children; ++child) {
            const Key joint = comparison_->joint.joint_of[i][tree->node(child).key];
            std::uint32_t& at = child_of_key_[joint];
            if (at == kNone) {
              at = static_cast<std::uint32_t>(children.size());
              children.emplace_back().key = joint;
            }
            children[at].in[i] = child;
          }
        }
      },
      trees_[i]);
}

Result<void> PairedTree::expand(std::uint32_t id, StopToken& stop) {
  if (nodes_[id].expanded) return {};
  for (const Side side : kSides)
    if (nodes_[id].in[index_of(side)] != kNone) PROFD_CHECK(expand_side(nodes_[id], side, stop));
  std::vector<Node> children;
  for (const Side side : kSides)
    if (nodes_[id].in[index_of(side)] != kNone) add_children(nodes_[id], side, children);
  for (Node& child : children) {
    child_of_key_[child.key] = kNone;
    child.parent = id;
  }
  const std::vector<std::uint32_t>& rank = comparison_->joint.name_rank;
  std::sort(children.begin(), children.end(), [&](const Node& a, const Node& b) {
    const bool a_gone = a.in[index_of(Side::after)] == kNone, b_gone = b.in[index_of(Side::after)] == kNone;
    return a_gone != b_gone ? b_gone : rank[a.key] < rank[b.key];
  });
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  nodes_.insert(nodes_.end(), children.begin(), children.end());
  Node& node = nodes_[id];
  node.first_child = first;
  node.n_children = static_cast<std::uint32_t>(children.size());
  node.expanded = true;
  return {};
}

template <class Read>
Value PairedTree::read(std::uint32_t id, Side side, Read read) const {
  const std::uint32_t own = nodes_[id].in[index_of(side)];
  return std::visit(
      [&](const auto& tree) -> Value {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(tree)>, std::monostate>)
          return zero_of(comparison_->side(side));
        else
          return own == kNone ? zero_of(comparison_->side(side)) : Value(read(tree->node(own)));
      },
      trees_[index_of(side)]);
}

Value PairedTree::total(std::uint32_t id, Side side) const {
  return read(id, side, [](const auto& node) { return node.total; });
}
Value PairedTree::self(std::uint32_t id, Side side) const {
  return read(id, side, [](const auto& node) { return node.self; });
}

Change PairedTree::change(std::uint32_t id) const {
  const auto there = [&](Side side) { return nodes_[id].in[index_of(side)] != kNone; };
  return change_of(there(Side::before), total(id, Side::before), there(Side::after), total(id, Side::after));
}

std::size_t PairedTree::memory() const {
  std::size_t bytes = sizeof(PairedTree) + nodes_.capacity() * sizeof(Node) +
                      child_of_key_.capacity() * sizeof(std::uint32_t);
  for (const Tree& tree : trees_)
    bytes += std::visit(
        [](const auto& one) -> std::size_t {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, std::monostate>)
            return 0;
          else
            return one->memory();
        },
        tree);
  return bytes;
}

}  // namespace profd
