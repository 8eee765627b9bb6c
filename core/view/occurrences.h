// Where a fragment of keys occurs: the contexts whose path of boxes ends with the run.
#pragma once

#include <cstdint>
#include <vector>

#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// Ascending ids of the contexts that start the box which completes the run `focus` (caller first), as the
// boxes are after hide and collapse. Contexts without any value are left out.
Result<std::vector<std::uint32_t>> find_occurrences(const Selection& selection, const std::vector<Key>& focus,
                                                    StopToken& stop);
// Those too: what depends on the boxes alone, whatever the metric.
Result<std::vector<std::uint32_t>> find_all_occurrences(const Selection& selection,
                                                        const std::vector<Key>& focus, StopToken& stop);

}  // namespace profd
