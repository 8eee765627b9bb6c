#include "server/engine/project_around.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace profd {

std::string project_around(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = folder;
  for (fs::path at = here; at != at.root_path(); at = at.parent_path())
    if (fs::exists(at / ".profd.toml", error) || fs::exists(at / ".git", error)) return at.string();
  const char* home = std::getenv("HOME");
  if (here == here.root_path() || (home != nullptr && here == fs::path(home))) return "";
  return here.string();
}

}  // namespace profd
