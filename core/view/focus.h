// The keys of a focus, which a spec gives by name.
#pragma once

#include <string>
#include <vector>

#include "core/view/selection.h"

namespace profd {

// Short names mean what they are shown for (resolve.h). Fails as resolve_key does.
Result<std::vector<Key>> keys_of_focus(const Selection& selection, const std::vector<std::string>& names);

}  // namespace profd
