// A source file that a profile names and that is in no folder of the workspace: what its user is asked before
// it is shown, and what no answer opens.
#pragma once

#include <string>
#include <string_view>

#include "core/model/profile.h"
#include "core/support/result.h"

namespace profd {

struct OutsideSource {
  std::string path;  // every link followed
  std::string
      root;  // the folder that one answer opens: a library's, else the file's own; every link followed
};
// `named`: a file as the profile names it; no other can be asked for, whoever asks. `home`: of the user, ""
// is unknown. `not_found` for a path that the profile does not have or that is no file here, `unsupported`
// for what is never shown this way, with why. Asks the file system: for workers.
Result<OutsideSource> outside_source(const Profile& profile, std::string_view named, const std::string& home);

// The folder that belongs to a source file at a path without links; "" for what is never shown: what is no
// source by its name, folders of the system and of its settings, hidden ones, the home folder itself and
// those of others, and whatever is as high up.
std::string root_of_source(std::string_view path, const std::string& home);

}  // namespace profd
