// PairedTree: the unfolded trees (unfold.h) of the two sides of a comparison, walked in step. A node is there
// wherever either side has something at its path, so that what is gone has a place, and what is new.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/view/change.h"
#include "core/view/comparison.h"
#include "core/view/unfold.h"

namespace profd {

class PairedTree {
 public:
  struct Node {
    std::uint32_t parent = kNone;
    Key key = kNone;  // joint; kNone at the root
    std::array<std::uint32_t, 2> in{kNone,
                                    kNone};  // by side: the node of its tree; kNone: it has nothing there
    // A run of nodes: what is there after in order of name, then what was there before alone, likewise.
    std::uint32_t first_child = 0, n_children = 0;
    bool expanded = false;
  };

  // `focus`: joint keys, for callers and callees alone. A side that lacks one of them has nothing anywhere.
  // Fails with `invalid` for the flat shape or a focus shape without a focus.
  static Result<PairedTree> make(ComparisonPtr comparison, Shape shape, const std::vector<Key>& focus,
                                 StopToken& stop);

  [[nodiscard]] const Node& node(std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Children and selfs of a node. When stopped, the node stays as it was.
  Result<void> expand(std::uint32_t id, StopToken& stop);

  // Of one side, in its own unit and type; 0 where it has nothing.
  [[nodiscard]] Value total(std::uint32_t id, Side side) const;
  [[nodiscard]] Value self(std::uint32_t id, Side side) const;  // of an expanded node
  [[nodiscard]] Change change(std::uint32_t id) const;          // of the totals
  [[nodiscard]] const Comparison& comparison() const { return *comparison_; }
  [[nodiscard]] std::size_t memory() const;

 private:
  using Tree = std::variant<std::monostate, std::unique_ptr<UnfoldedTree<std::int64_t>>,
                            std::unique_ptr<UnfoldedTree<double>>>;
  PairedTree() = default;
  static Result<Tree> make_side(const Comparison& comparison, Side side, Shape shape,
                                const std::vector<Key>& focus, StopToken& stop);
  Result<void> expand_side(const Node& node, Side side, StopToken& stop);
  void add_children(const Node& node, Side side, std::vector<Node>& children);
  template <class Read>
  [[nodiscard]] Value read(std::uint32_t id, Side side, Read read) const;

  ComparisonPtr comparison_;
  std::array<Tree, 2> trees_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> child_of_key_;  // scratch by joint key, all kNone between calls
};

}  // namespace profd
