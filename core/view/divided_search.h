// Total of what passes through keys in a tree that is made of calls (Selection::divided): an estimate.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/selection.h"

namespace profd {

// `matches`: by Key.
Result<Value> matched_in_calls(const Selection& selection, const std::vector<std::uint8_t>& matches,
                               StopToken& stop);

}  // namespace profd
