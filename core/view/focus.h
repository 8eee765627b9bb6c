// The keys of a focus, which a spec gives by name.
#pragma once

#include <string>
#include <vector>

#include "core/view/selection.h"

namespace profd {

// Fails with `invalid` for a name that nothing or several frames have.
Result<std::vector<Key>> keys_of_focus(const Selection& selection, const std::vector<std::string>& names);

}  // namespace profd
