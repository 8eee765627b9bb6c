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

// Calls `visit` with the path of every regular file, until it says that this is enough. Follows no links to
// folders. Returns false when a limit, `visit` or `stop` cut it short.
bool walk_files(const std::string& root, const WalkLimits& limits,
                const std::function<bool(const std::string& path)>& visit, const StopToken& stop = {});

// Immutable; made on a worker, used by many.
struct WorkspaceFiles {
  std::uint64_t id = 0;  // of the walk: another one may have found something else
  PathIndex index;
  bool complete = true;
  bool no_room = false;    // it would have taken more than `room`
  std::uint64_t room = 0;  // bytes that it was given
};
std::shared_ptr<WorkspaceFiles> index_workspace(const std::vector<std::string>& roots, std::uint64_t id,
                                                const StopToken& stop, std::uint64_t room);

}  // namespace profd
