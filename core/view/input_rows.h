// Rows of a composed profile that are chosen at its inputs: threads, labels and times are theirs.
#pragma once

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/rows.h"

namespace profd {

// `rows.profile` is composed, and `rows.filters` has one by thread, label or time: fills in what passes, as
// make_rows() of each input says. Fails with `invalid` where the inputs were not kept, or one of them has no
// samples to filter.
Result<void> take_rows_of_inputs(Rows& rows, StopToken stop);

}  // namespace profd
