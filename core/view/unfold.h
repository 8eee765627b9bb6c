// UnfoldedTree: a top-down, bottom-up, callers or callees tree that grows where it is looked at.
// A node stands for all contexts with one path of keys. Until it is expanded it keeps the list of its
// contexts (its cursors); expanding groups their children (or callers) by key and hands the lists on, so that
// the whole merged tree is never made and what was looked at once is free the next time.
//
// In every shape: total(node) = Σ total(children) + self(node), where self is the value of stacks that end
// here (bottom-up and callers: that start here, "no caller"). The root has no key; in callers and callees it
// stands for the whole fragment.
//
// Callees count a stack at the last occurrence of the fragment on it, callers at the first, so both roots
// have the same total, each stack counted once.
//
// Of a source that has calls and no stacks (Selection::divided) nodes have no contexts: divided_tree.h knows
// what lies below them. Nodes tell which of their numbers are estimates.
//
// Not thread-safe; ViewMemo shares one between requests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"
#include "core/view/unfolded_node.h"

namespace profd {

struct MatchMarks;
struct SearchResult;
struct Selection;

template <class T>
class DividedTree;

template <class T>
class UnfoldedTree {
 public:
  using Node = UnfoldedNode<T>;

  // `selection` may go away afterwards: what is needed of it is shared. Fails with `invalid` for a focus
  // shape without a focus or the flat shape, `not_found` for keys that the selection does not have.
  static Result<std::unique_ptr<UnfoldedTree>> make(const Selection& selection, Shape shape,
                                                    const std::vector<Key>& focus, StopToken& stop);
  ~UnfoldedTree();

  const Node& node(std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  // Children and self of a node. When stopped, the node stays as it was.
  Result<void> expand(std::uint32_t id, StopToken& stop);
  // The child of a node that has a key of keys(); kNone when there is none.
  Result<std::uint32_t> child(std::uint32_t id, Key key, StopToken& stop);
  // The node at a path of keys from the root, or `not_found`.
  Result<std::uint32_t> find(const std::vector<Key>& path, StopToken& stop);
  // The stacks with a match at a node or below it, each once, of each of these nodes. Does not unfold what is
  // not unfolded. `inside`: nodes above them match.
  using Matching = UnfoldedMatching<T>;
  Result<std::vector<Matching>> matching(std::span<const std::uint32_t> ids, const MatchMarks& marks,
                                         bool inside, StopToken& stop);
  // The same of one, without a sum.
  Result<bool> has_match(std::uint32_t id, const MatchMarks& marks, StopToken& stop);
  const KeyTable& keys() const;
  const Profile& profile() const;
  // Some numbers are estimates.
  bool estimated() const;
  // Nodes have no contexts.
  bool divided() const;
  bool saturated() const;
  std::size_t memory() const;

 private:
  struct Source;
  struct Block;
  struct Groups;
  class MatchSums;
  explicit UnfoldedTree(std::unique_ptr<Source> source);

  Result<void> group_children(const Node& node, Groups& groups, StopToken& stop);
  Result<void> group_callers(const Node& node, Groups& groups, StopToken& stop);
  Result<void> group_rows(Groups& groups, StopToken& stop);
  Result<Matching> matching_of(std::uint32_t id, const MatchMarks& marks, StopToken& stop);
  template <class Visit>
  Result<void> visit_matches(std::uint32_t id, const MatchMarks& marks, StopToken& stop, Visit visit);
  template <class Visit>
  bool visit_matches_below(const Node& node, const MatchMarks& marks, StopToken& stop, Visit visit);
  template <class Visit>
  bool visit_matches_above(const Node& node, const MatchMarks& marks, StopToken& stop, Visit visit);
  void adopt(std::uint32_t id, Groups& groups);
  void release(const Node& node);

  std::unique_ptr<Source> source_;
  std::unique_ptr<DividedTree<T>> divided_;  // null where nodes have contexts
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t block_bytes_ = 0;              // of all that are there
  std::vector<std::uint32_t> group_of_key_;  // scratch, all kNone between calls
  std::unique_ptr<Groups> groups_;           // scratch
  // Kept for the search that was asked about last, by node: zooming asks about the same nodes again and
  // again.
  std::shared_ptr<const SearchResult> matched_by_;
  std::unordered_map<std::uint32_t, Matching> matched_;
};

extern template class UnfoldedTree<std::int64_t>;
extern template class UnfoldedTree<double>;

}  // namespace profd
