// The sets of frames and the rules of tips that hold where a command is run: those that come with profd and
// those of its .profd.toml.
#pragma once

#include "core/view/frame_sets.h"
#include "server/feature/tips.h"

namespace profd {

// `mine`: with what is the user's own code, which takes a walk through the project.
FrameSetsPtr sets_here(bool mine);
TipRules tips_here();

}  // namespace profd
