// What the first requests on a big profile will need, in the order in which they come: made ahead of time.
#pragma once

#include <vector>

#include "server/engine/warm_up.h"

namespace profd {

// For these filters of its default metric; without filters for its other metrics, too, as far as there is
// room.
std::vector<FirstNeed> first_needs(const OpenProfilePtr& open, const std::vector<Filter>& filters);

}  // namespace profd
