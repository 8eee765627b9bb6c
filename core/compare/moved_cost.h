// Moved cost: what functions of a diff lost and others have now, as when a part of one becomes a function.
// Where changes of selfs cancel is looked for from small to large: a function and what it calls, what one
// calls; then class, file, module, where what gained is new: two changes of a file may cancel by chance.
#pragma once

#include <cstddef>
#include <vector>

#include "core/compare/noise.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

struct MovedCost {
  std::vector<Key> from, to;  // the largest change first
  double net = 0, gross = 0;  // in samples, see CostShift
};

struct MovedCosts {
  std::vector<MovedCost> costs;  // the largest first; a function is in one at most

  [[nodiscard]] std::size_t memory() const;
};

// `noise`: of that selection, of a diff. Nothing where noise cannot be told. What stands out, or has changed
// by two deviations of its noise and a thousandth of the whole, takes part; no more than kMostMoving do, the
// largest. One sweep over the contexts. Fails with `cancelled` when stopped.
inline constexpr std::size_t kMostMoving = 10'000;
Result<MovedCosts> moved_costs(const Selection& selection, const Noise& noise, StopToken stop);

}  // namespace profd
