// Names from binaries, for what a command reads.
#pragma once

#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/cli/profile_options.h"
#include "server/engine/origin.h"
#include "server/engine/symbolize_profile.h"

namespace profd {

// Where the files of a profile are looked for; `file` is the profile's.
SymbolPlaces places_here(const std::string& file, const ProfileOptions& options);

// Whether names are looked for: not with --no-symbols and PROFD_SYMBOLS=off.
bool wants_symbols(const ProfileOptions& options);
// What finds callers in copies of stacks, for one loading of `file`; empty where names are not looked for.
UnwindStacks unwinder_here(const std::string& file, const ProfileOptions& options, const StopToken& stop);
// The profile, which is of `file`, with the names of its binaries; `lookups` is told what was looked for.
Result<ProfilePtr> named_here(ProfilePtr profile, const std::string& file, const ProfileOptions& options,
                              const Console& console, const StopToken& stop,
                              std::vector<ModuleLookup>& lookups);
// The same of the profile that is meant: of several, the one that --profile names or else the first.
Result<void> name_picked(LoadedProfiles& loaded, const ProfileOptions& options, const Console& console,
                         const StopToken& stop, std::vector<ModuleLookup>& lookups);

}  // namespace profd
