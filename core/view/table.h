// Tables: flat lists by key and one level of a tree at a time, paged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/view/selection.h"

namespace profd {

enum class SortBy : std::uint8_t { self, total, name };

// Every key of the selection with its self and total; total counts a stack once however often the key occurs
// in it. Keys without any value are left out. Σ self and `frameless` add up to the selection's total. Rows
// are in key order. Made once per selection and kept.
// Where a source without stacks states a total, that is the row's; a row whose total is summed over the
// estimated tree says so. What such a tree needs to hang together and the source does not name has no row.
struct FlatView {
  std::vector<Key> key;
  std::vector<Value> self, total;
  Value frameless;                 // of stacks that have no frame: empty ones, and those hidden as a whole
  std::vector<Estimate> estimate;  // by row; empty: all exact
  // Of a key; nothing when the table has no such row.
  [[nodiscard]] std::optional<std::size_t> row_of(Key of) const {
    const auto found = std::lower_bound(key.begin(), key.end(), of);
    if (found == key.end() || *found != of) return std::nullopt;
    return static_cast<std::size_t>(found - key.begin());
  }
  Estimate estimate_of(std::size_t row) const { return estimate.empty() ? kExact : estimate[row]; }
  void add_row(const FlatView& from, std::size_t row);
  std::size_t memory() const {
    return sizeof(FlatView) + key.size() * sizeof(Key) + (self.size() + total.size()) * sizeof(Value) +
           estimate.size();
  }
};
Result<FlatView> flat_view(const Selection& selection, StopToken stop);

struct TableRequest {
  SortBy sort = SortBy::self;
  bool descending = true;
  std::size_t offset = 0, limit = 100;
};

struct TablePage {
  std::vector<std::uint32_t> rows;  // row numbers of the FlatView
  std::size_t n_rows = 0;           // of the whole table
  std::size_t n_left_out = 0;       // after this page
  Value self_left_out;
};
TablePage page_of(const Selection& selection, const FlatView& view, const TableRequest& request);
// The rows in the order that they have.
TablePage page_in_order(const Selection& selection, const FlatView& view, const TableRequest& request);

// One node of a top-down, bottom-up, callers or callees tree and its children, heaviest first.
// In every shape total == self + Σ totals of the children; self is what ends at the node (bottom-up and
// callers: what starts there, so "no caller" is the self of the root of callers).
struct TreeRequest {
  Shape shape = Shape::top_down;
  std::vector<Key> focus;
  std::vector<Key> path;                // from the view's root
  std::size_t offset = 0, limit = 100;  // at most 10,000
};
// The direct callers and callees of one function are what a source without stacks states, where it does: then
// the totals are the source's, and recursion is counted as its own tool does, so that they may sum to more.
struct TreeLevel {
  Value self, total;           // of the node at `path`
  Estimate estimate = kExact;  // of the two
  std::vector<Key> key;
  std::vector<Value> child_self, child_total;
  std::vector<Estimate> child_estimate;  // empty: all exact; a total of 0 that is estimated is unknown
  std::vector<std::uint8_t> has_children;
  std::size_t n_children = 0;
  Value total_left_out;  // of the children after this page
};
// Fails with `not_found` where the path does not exist, `invalid` for the flat shape or a missing focus.
Result<TreeLevel> tree_level(const Selection& selection, const TreeRequest& request, StopToken stop);

}  // namespace profd
