#include "core/view/column_tree.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace profd {
namespace {

// What `use` gives for the tree of a column, `otherwise` where there is none.
template <class Tree, class R, class Use>
R with(Tree& tree, R otherwise, Use use) {
  return std::visit(
      [&](auto& one) -> R {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, std::monostate>)
          return otherwise;
        else
          return use(*one);
      },
      tree);
}

}  // namespace

Result<ColumnTree> ColumnTree::make(Columns columns, Shape shape, const std::vector<Key>& focus,
                                    StopToken& stop) {
  ColumnTree out;
  out.child_of_key_.assign(columns.n_keys(), kNone);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    PROFD_TRY(Tree tree, make_column(columns, column, shape, focus, stop));
    out.own_.push_back(std::holds_alternative<std::monostate>(tree) ? kNone : 0);
    out.trees_.push_back(std::move(tree));
  }
  out.columns_ = std::move(columns);
  out.nodes_.emplace_back();
  return out;
}

Result<ColumnTree::Tree> ColumnTree::make_column(const Columns& columns, std::size_t column, Shape shape,
                                                 const std::vector<Key>& focus, StopToken& stop) {
  std::vector<Key> own;
  for (const Key key : focus) {
    own.push_back(columns.own_key(column, key));
    if (own.back() == kNone) return Tree();
  }
  const Selection& selection = *columns.of[column];
  return std::visit(
      [&](const auto& totals) -> Result<Tree> {
        using T = std::remove_cvref_t<decltype(totals[0])>;
        PROFD_TRY(auto tree, UnfoldedTree<T>::make(selection, shape, own, stop));
        return Tree(std::move(tree));
      },
      selection.sums->totals);
}

Result<void> ColumnTree::expand(std::uint32_t id, StopToken& stop) {
  if (nodes_[id].expanded) return {};
  const std::size_t n_columns = columns_.size();
  for (std::size_t column = 0; column < n_columns; ++column)
    if (const std::uint32_t at = own(id, column); at != kNone)
      PROFD_CHECK(with(trees_[column], Result<void>(), [&](auto& tree) { return tree.expand(at, stop); }));

  std::vector<Node> children;
  std::vector<std::uint32_t> own_of_child;  // by child, by column
  for (std::size_t column = 0; column < n_columns; ++column) {
    const std::uint32_t at = own(id, column);
    if (at == kNone) continue;
    with(trees_[column], 0, [&](const auto& tree) {
      const auto& node = tree.node(at);
      for (std::uint32_t child = node.first_child; child < node.first_child + node.n_children; ++child) {
        const Key key = columns_.key_of(column, tree.node(child).key);
        std::uint32_t& known = child_of_key_[key];
        if (known == kNone) {
          known = static_cast<std::uint32_t>(children.size());
          Node& added = children.emplace_back();
          added.parent = id;
          added.key = key;
          own_of_child.resize(own_of_child.size() + n_columns, kNone);
        }
        own_of_child[known * n_columns + column] = child;
      }
      return 0;
    });
  }
  for (const Node& child : children) child_of_key_[child.key] = kNone;

  std::vector<std::uint32_t> order(children.size());
  std::iota(order.begin(), order.end(), 0u);
  const std::vector<std::uint32_t>& rank = columns_.name_rank();
  const auto is_gone = [&](std::uint32_t child) {
    return own_of_child[(child + 1) * n_columns - 1] == kNone;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool a_gone = is_gone(a), b_gone = is_gone(b);
    return a_gone != b_gone ? b_gone : rank[children[a].key] < rank[children[b].key];
  });
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  for (const std::uint32_t child : order) {
    nodes_.push_back(children[child]);
    const auto from = own_of_child.begin() + static_cast<std::ptrdiff_t>(child * n_columns);
    own_.insert(own_.end(), from, from + static_cast<std::ptrdiff_t>(n_columns));
  }
  Node& node = nodes_[id];
  node.first_child = first;
  node.n_children = static_cast<std::uint32_t>(children.size());
  node.expanded = true;
  return {};
}

template <class Read>
Value ColumnTree::read(std::uint32_t id, std::size_t column, Read read) const {
  const std::uint32_t at = own(id, column);
  const Value zero = columns_.zero(column);
  return at == kNone
             ? zero
             : with(trees_[column], zero, [&](const auto& tree) { return Value(read(tree.node(at))); });
}

Value ColumnTree::total(std::uint32_t id, std::size_t column) const {
  return read(id, column, [](const auto& node) { return node.total; });
}
Value ColumnTree::self(std::uint32_t id, std::size_t column) const {
  return read(id, column, [](const auto& node) { return node.self; });
}
Value ColumnTree::width(std::uint32_t id, std::size_t column) const {
  return read(id, column, [](const auto& node) { return node.width; });
}

Estimate ColumnTree::estimate(std::uint32_t id, std::size_t column) const {
  const std::uint32_t at = own(id, column);
  return at == kNone ? kExact
                     : with(trees_[column], kExact, [&](const auto& tree) { return tree.node(at).estimate; });
}

std::uint32_t ColumnTree::frame(std::uint32_t id) const {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::uint32_t at = own(id, column);
    if (at == kNone) continue;
    const std::uint32_t frame =
        with(trees_[column], kNone, [&](const auto& tree) { return tree.node(at).frame; });
    if (frame != kNone) return frame;
  }
  return kNone;
}

bool ColumnTree::divided(std::size_t column) const {
  return with(trees_[column], false, [](const auto& tree) { return tree.divided(); });
}

Change ColumnTree::change(std::uint32_t id, std::size_t before, std::size_t after) const {
  return change_of(has(id, before), total(id, before), has(id, after), total(id, after));
}

std::size_t ColumnTree::memory() const {
  std::size_t bytes = sizeof(ColumnTree) + nodes_.capacity() * sizeof(Node) +
                      (own_.capacity() + child_of_key_.capacity()) * sizeof(std::uint32_t);
  for (const Tree& tree : trees_)
    bytes += with(tree, std::size_t{0}, [](const auto& one) { return one.memory(); });
  return bytes;
}

}  // namespace profd
