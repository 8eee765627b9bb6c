// The project that a command is run in: whose files may be looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/cli/console.h"
#include "server/engine/project_file.h"
#include "server/engine/source_map.h"

namespace profd {

// The folder with .profd.toml or .git around the current one, else that one; "" where it is the whole machine
// or the whole home, which are no project.
std::string project_here();

// The .profd.toml that holds where a command is run. Nothing where there is none that is taken, which is said
// of one that is there.
std::optional<ProjectFile> project_file_here(const Console& console);

// The files below folders, within a part of the machine's memory.
std::shared_ptr<const WorkspaceFiles> files_of(const std::vector<std::string>& folders);

struct ProjectSources {
  WorkspaceSnapshot workspace;
  std::vector<std::string> folders;  // that were walked
};
// Walks the project and `more` folders, and takes the mappings of .profd.toml. What the walk's limits cut off
// is not found, and that is said.
ProjectSources sources_here(const std::vector<std::string>& more, const Console& console);

}  // namespace profd
