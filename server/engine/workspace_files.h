// The files below the roots of a workspace, as far as a bounded walk finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/path_index.h"
#include "core/support/stop.h"

namespace profd {

// .git, .hg, .svn, node_modules, build folders and the like.
bool is_skipped_folder(std::string_view name);

struct WalkLimits {
  std::size_t max_entries = 400'000;  // files and folders looked at
  int max_depth = 40;
};

// Calls `visit` with the path of every regular file. Follows no links to folders. Returns false when a limit
// or `stop` cut it short.
bool walk_files(const std::string& root, const WalkLimits& limits,
                const std::function<void(const std::string& path)>& visit, StopToken stop = {});

// Immutable; made on a worker, used by many.
struct WorkspaceFiles {
  std::uint64_t id = 0;  // of the walk: another one may have found something else
  PathIndex index;
  bool complete = true;
};
std::shared_ptr<const WorkspaceFiles> index_workspace(const std::vector<std::string>& roots, std::uint64_t id,
                                                      StopToken stop);

}  // namespace profd
