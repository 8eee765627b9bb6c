// Names from binaries, for what a command reads.
#pragma once

#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/cli/profile_options.h"
#include "server/engine/origin.h"
#include "server/engine/symbolize_profile.h"

namespace profd {

// Where the files of a command's profile are looked for.
SymbolPlaces places_here(const ProfileOptions& options);

// The profile that is meant (of several, the one that --profile names or else the first) becomes one with
// names. PROFD_SYMBOLS=off: nothing is looked for.
Result<std::vector<ModuleLookup>> symbolize_here(LoadedProfiles& loaded, const ProfileOptions& options,
                                                 const Console& console, const StopToken& stop);

}  // namespace profd
