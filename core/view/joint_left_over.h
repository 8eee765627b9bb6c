// Functions that nothing but their names tells to be one, and those that somebody says are the same.
#pragma once

#include <cstddef>

#include "core/view/joint_items.h"

namespace profd::joint {

// Items by function, joined so far as `parts` says, become what is one. Returns how many were joined by name.
std::size_t join_left_over(Items& items, Parts& parts);

}  // namespace profd::joint
