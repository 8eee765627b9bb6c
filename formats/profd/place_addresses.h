// Files of profilers give addresses in memory (profile.proto, Frames.in_modules).
#pragma once

#include "core/model/profile.h"

namespace profd::profd_format {

// From addresses in memory to those of FrameTable. The data was validated.
void place_addresses(ProfileData& data);

}  // namespace profd::profd_format
