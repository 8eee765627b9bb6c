// Views of two profiles at once, whose widths are a function of both sides: a selection over what was merged
// of them, with selfs that are evaluated by path, so that every view of one profile (tree, flat, search,
// layout) is a view of both.
#pragma once

#include <cstdint>

#include "core/model/merge.h"
#include "core/view/comparison.h"
#include "core/view/selection.h"

namespace profd {

enum class OfTwo : std::uint8_t {
  most,    // max(|before|, |after|): room for both, what is gone included
  change,  // |after - before|
};

struct TwoSides {
  const Merged* merged = nullptr;  // of the two profiles, with the contexts of both; used in the call alone
  // What counts on either side, by its own filters: its rows are taken, its boxes are not.
  SelectionPtr before, after;
  double scale = 1;  // of `before`: sums are multiplied, once a path
};

// `boxes`: of merged->profile. Fails with `invalid` when the metrics of the sides differ in unit,
// `unsupported` for a source that states costs in place of stacks, `cancelled` when stopped. A box's self is
// the function of what both sides have at its path, its total the sum over what is below.
Result<SelectionPtr> select_of_two(const TwoSides& sides, const BoxesPtr& boxes, OfTwo of, StopToken stop);

}  // namespace profd
