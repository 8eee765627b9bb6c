// ColumnTree: the unfolded trees (unfold.h) of several columns, walked in step. A node is there wherever some
// column has something at its path.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/view/change.h"
#include "core/view/columns.h"
#include "core/view/unfold.h"

namespace profd {

class ColumnTree {
 public:
  struct Node {
    std::uint32_t parent = kNone;
    Key key = kNone;  // of the columns; kNone at the root
    // A run of nodes: what the last column has in order of name, then what others have, likewise. Of a
    // comparison that is what is there after, then what is gone.
    std::uint32_t first_child = 0, n_children = 0;
    bool expanded = false;
  };

  // `focus`: keys of the columns, for callers and callees alone. A column that lacks one of them has nothing
  // anywhere. Fails with `invalid` for the flat shape or a focus shape without a focus.
  static Result<ColumnTree> make(Columns columns, Shape shape, const std::vector<Key>& focus,
                                 StopToken& stop);

  [[nodiscard]] const Node& node(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Children and selfs of a node. When stopped, the node stays as it was.
  Result<void> expand(std::uint32_t id, StopToken& stop);

  [[nodiscard]] bool has(std::uint32_t id, std::size_t column) const { return own(id, column) != kNone; }
  // In the unit and type of the column; 0 where it has nothing.
  [[nodiscard]] Value total(std::uint32_t id, std::size_t column) const;
  [[nodiscard]] Value self(std::uint32_t id, std::size_t column) const;  // of an expanded node
  [[nodiscard]] Value width(std::uint32_t id, std::size_t column) const;
  [[nodiscard]] Estimate estimate(std::uint32_t id, std::size_t column) const;
  // Of one of its contexts, in the first column that has something here; kNone at the root.
  [[nodiscard]] std::uint32_t frame(std::uint32_t id) const;
  // The column is of a source that has calls and no stacks (unfold.h).
  [[nodiscard]] bool divided(std::size_t column) const;
  // Of the totals, from one column to another.
  [[nodiscard]] Change change(std::uint32_t id, std::size_t before, std::size_t after) const;
  [[nodiscard]] const Columns& columns() const { return columns_; }
  [[nodiscard]] std::size_t memory() const;

 private:
  // Of a column without the focus there is none.
  using Tree = std::variant<std::monostate, std::unique_ptr<UnfoldedTree<std::int64_t>>,
                            std::unique_ptr<UnfoldedTree<double>>>;
  ColumnTree() = default;
  static Result<Tree> make_column(const Columns& columns, std::size_t column, Shape shape,
                                  const std::vector<Key>& focus, StopToken& stop);
  [[nodiscard]] std::uint32_t own(std::uint32_t id, std::size_t column) const {
    return own_[id * columns_.size() + column];
  }
  template <class Read>
  [[nodiscard]] Value read(std::uint32_t id, std::size_t column, Read read) const;

  Columns columns_;
  std::vector<Tree> trees_;  // by column
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> own_;           // by node, by column: the node of its tree; kNone: nothing there
  std::vector<std::uint32_t> child_of_key_;  // scratch by key, all kNone between calls
};

}  // namespace profd
