// The programs that a recording of machine code has its names from, kept beside it: perf notes addresses, and
// the next build has others.
#pragma once

#include <string>

#include "core/model/profile.h"

namespace profd {

// Copies of the binaries of `profile` that a build can change, by build id in `.build-id` of the recording's
// folder, where names are looked for; one file for several recordings of one build. Not those of the system
// (/usr, /lib, /opt …), nor one that is gone, or has no build id. `place`: of the project's recordings. Gives
// what a person is to know, or "".
std::string keep_binaries(const Profile& profile, const std::string& place, const std::string& folder);

}  // namespace profd
