// Where the files that an answer names are in the workspace.
#pragma once

#include <string>
#include <vector>

#include "server/engine/source_map.h"

namespace profd {

// By file; "" for one that is not there, or not just one. `sources` may be null.
inline std::vector<std::string> workspace_paths(const std::vector<std::string>& files,
                                                const SourceMap* sources) {
  std::vector<std::string> out;
  out.reserve(files.size());
  for (const std::string& file : files) {
    const std::string* const path = sources == nullptr ? nullptr : sources->file_of(file);
    out.push_back(path == nullptr ? "" : *path);
  }
  return out;
}

}  // namespace profd
