// What the globs of a project file match, within limits: a pattern of a project may reach over a whole disk.
// For workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/stop.h"
#include "server/platform/file_watcher.h"

namespace profd {

struct GlobLimits {
  std::size_t max_globs = 256;
  std::size_t max_entries = 100'000;  // files and folders looked at, for all globs together
  std::size_t max_folders = 2000;     // that are watched
  std::size_t max_files = 16;         // the newest of those that match
  int max_depth = 20;
  std::chrono::milliseconds max_time{5000};
};

struct GlobMatches {
  struct WatchedFolder {
    std::string path;
    FileStamp seen;  // before its entries were read: what comes later is a change
  };
  // Each once, in the order of the patterns they match; those of one pattern newest first.
  std::vector<std::string> paths;
  std::size_t n_left_out = 0;  // further ones, beyond max_files: older than these, and not named
  // The folders whose entries decide what the globs match: that of the name where only the name has a
  // wildcard, else every one below the first wildcard; where it is missing, the nearest above that is there.
  std::vector<WatchedFolder> folders;
  // What was not looked at, and why: phrases that follow "`profiles`", such as "has 300 patterns; ...".
  std::vector<std::string> cut;
};
// Those of a project, and what leads out of it.
struct ProjectProfiles {
  GlobMatches matches;
  std::vector<std::string> outside;
};

// `globs`: absolute. Skips .git, node_modules, build folders and the like; follows no links to folders.
GlobMatches match_globs(const std::vector<std::string>& globs, const GlobLimits& limits,
                        const StopToken& stop);

}  // namespace profd
