// Writing a profile, or what several come to, in another format.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/cli/profile_options.h"
#include "server/cli/write_file.h"

namespace profd {

struct WriteProfileOptions {
  ProfileOptions profile;  // `runs` with `together`: what is written is made of all of them
  OutputFile output;
  std::string to;      // the id of a format; "" as the extension of the output says
  bool quiet = false;  // nothing of what the format cannot hold
  // Is shown what was read, and what was looked for in binaries, before it is written; may be empty.
  std::function<void(const LoadedProfiles&, const std::vector<ModuleLookup>&)> look = {};
};
// Gives the exit code. What is wrong with the command line is told before anything is read.
int write_profile(const WriteProfileOptions& options, const Console& console);

// The same of a profile that a command made of others, in place of what `options.profile` names; `made_of`
// has how these were read.
int write_made_profile(const WriteProfileOptions& options, const ProfilePtr& made,
                       const LoadedProfiles& made_of, const Console& console);

// "pprof, speedscope, …", for help.
std::string written_formats();

}  // namespace profd
