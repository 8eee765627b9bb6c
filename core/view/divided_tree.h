// DividedTree: the nodes of an unfolded tree whose source has calls and no stacks (Selection::divided). They
// have no contexts: what lies below one is divided as call_paths.h says. The nodes themselves are those of
// the UnfoldedTree that asks, and stay with it.
//
// Not thread-safe, as the tree.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/call_paths.h"
#include "core/view/keys.h"
#include "core/view/spec.h"
#include "core/view/unfolded_node.h"

namespace profd {

struct MatchMarks;
struct SearchResult;
struct Selection;

template <class T>
class DividedTree {
 public:
  using Node = UnfoldedNode<T>;
  using Nodes = std::vector<Node>;

  // Of a view that CallPaths answers. `selection` may go away afterwards.
  DividedTree(const Selection& selection, Shape shape, const std::vector<Key>& focus);

  [[nodiscard]] Node root() const;
  // Adds the children of a node that is not expanded.
  void expand(Nodes& nodes, std::uint32_t id);
  // As of UnfoldedTree. What is unfolded is counted; of what is not, the share that calls give it. Of the
  // root only when it is expanded.
  Result<UnfoldedMatching<T>> matching(const Nodes& nodes, std::uint32_t id, const MatchMarks& marks,
                                       StopToken& stop);
  Result<bool> has_match(const Nodes& nodes, std::uint32_t id, const MatchMarks& marks, StopToken& stop);
  [[nodiscard]] std::size_t memory() const;

 private:
  // Of the root of callers and callees that of the focus, of other roots none.
  [[nodiscard]] Key key_of(const Node& node) const {
    return node.key != kNone ? node.key : paths_.root().key;
  }
  void mark_path(const Nodes& nodes, std::uint32_t id, bool on);
  Result<void> find_shares(const MatchMarks& marks, StopToken& stop);

  CallPaths<T> paths_;
  std::shared_ptr<const KeyTable> keys_;
  bool saturated_;
  // By key: what stands between a node and the root, all 0 between calls.
  std::vector<std::uint8_t> on_path_;
  // By key, of the search that was asked about last.
  std::vector<double> shares_;
  std::shared_ptr<const SearchResult> shares_of_;
};

extern template class DividedTree<std::int64_t>;
extern template class DividedTree<double>;

}  // namespace profd
