// One shape, many values: what the boxes and rows of a view come to under another metric (or other filters of
// rows). The view is laid out or paged once; each further metric is a column, evaluated for what is asked.
#pragma once

#include <span>
#include <vector>

#include "core/view/key_index.h"
#include "core/view/path_contexts.h"
#include "core/view/selection.h"
#include "core/view/table.h"

namespace profd {

// `values` is a selection that has the boxes of the view: of the same profile, granularity, hide and collapse
// filters; where both are made of one Boxes, what depends on those alone is worked out once for both.
// All numbers are those that a tree or table of `values` itself shows at the same place, 0 where it shows
// none.

// By box. Of a box that stands for no single path (remainders, and what is below them) 0. NaN where the boxes
// are made of calls and what those come to in this metric is not stated, or the other way round.
struct BoxValues {
  std::vector<Value> total;
  std::vector<Value> self;  // empty unless asked for
};
enum class BoxValuesWanted : std::uint8_t { totals, totals_and_selves };

// The lists of contexts of the boxes are found once for all metrics (top-down and callees); values flow along
// the paths in bottom-up and callers, so that `values` keeps a tree of its own there. Either is kept: asked
// again, a box costs a look-up. Fails with `invalid` for the flat shape or a missing focus.
Result<BoxValues> values_of_boxes(const Selection& values, Shape shape, const std::vector<Key>& focus,
                                  const BoxPaths& boxes, BoxValuesWanted wanted, StopToken stop);

// By key of `keys`, as the flat table of `values` has them.
struct KeyValues {
  std::vector<Value> self, total;
  std::vector<std::uint8_t> present;  // 0: the table has no such row, no stack with any value goes through it
};
// Looked up in the table where that is made already.
KeyValues values_of_keys(const Selection& values, const FlatView& table, std::span<const Key> keys);
// From the contexts of these keys alone, without a look at all others.
Result<KeyValues> values_of_keys(const Selection& values, const KeyIndex& index, std::span<const Key> keys,
                                 StopToken stop);
// Whether the second is worth it: a sweep that makes the whole table looks at a context faster.
bool has_few_contexts(const Selection& values, const KeyIndex& index, std::span<const Key> keys);

}  // namespace profd
