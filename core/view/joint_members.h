// Items that are the same so far: what tells those of one profile apart.
#pragma once

#include "core/view/joint_items.h"

namespace profd::joint {

// Items that have all of Same in common are one joint key, where each source has one of them; else as numbers
// of closures, linker names and first lines tell them apart.
Parts join_items(const Items& items);

}  // namespace profd::joint
