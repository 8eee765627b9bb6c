// What a view leaves out because its filters cannot decide on it, in words.
#pragma once

#include <string>

#include "core/view/selection.h"

namespace profd {

// "1.20 s · 12.0 % of the profile has no thread: the filters leave it out"; "" when nothing was left out.
std::string exclusion_text(const Selection& selection);

}  // namespace profd
