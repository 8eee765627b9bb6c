// Which paths of several profiles are the same file: the same text, or the same way below folders that one
// build calls this and another that ("/home/a/one/src/parse.cc", "/home/a/two/src/parse.cc").
//
// A folder of one profile is taken for a folder of another where the files below them agree: at least half of
// those that the one with fewer has there are in the other as well. Only files that the other profile lacks
// count, so that what both call the same stays that, and no file becomes two files of one profile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

struct MovedFolder {
  std::string from, to;  // without the separator at the end; "" for relative paths
  std::uint32_t n_files = 0;
  bool operator==(const MovedFolder&) const = default;
};

struct PathMatches {
  std::vector<std::uint32_t> same_as;  // by path: itself, or the one it is; of same_as[p] that is itself
  std::vector<MovedFolder> folders;    // most files first
};

// `paths`: different from each other; '/' and '\' separate. `inputs_of`: by path, the profiles that have it,
// ascending. Matches what comes first in a later profile with what earlier ones have. About linear in the
// length of the paths.
PathMatches match_paths(std::span<const std::string_view> paths,
                        std::span<const std::vector<std::uint32_t>> inputs_of);

}  // namespace profd
