// What the filters of a view leave of a profile, as a profile: for formats that hold stacks and no views.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// Samples that are dropped are gone, hidden frames too (their values stay on the caller), collapsed runs are
// one frame; by file or module every frame is named by its file or module. All metrics are kept, the view's
// is the default; threads, times and labels stay with their samples, and records that tie contexts together
// with their contexts (rewrite.h says how). Sums are those of the view. The property "view" says what was
// asked.
//
// `selection` is that of `spec`. Fails with `unsupported` for other shapes than top-down.
Result<ProfilePtr> filtered_profile(const Selection& selection, const ViewSpec& spec, StopToken stop);

// By row of the sample table, 1: it passes the filters of the selection. Of a profile that has samples.
Result<std::vector<std::uint8_t>> samples_in(const Selection& selection, StopToken& stop);

}  // namespace profd
