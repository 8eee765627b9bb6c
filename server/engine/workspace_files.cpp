#include "server/engine/workspace_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 12> kSkipped = {".git",        ".hg",    ".svn",    "node_modules",
                                                       "build",       "target", ".cache",  ".venv",
                                                       "__pycache__", ".idea",  ".vscode", "bazel-out"};

bool skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return std::find(kSkipped.begin(), kSkipped.end(), name) != kSkipped.end();
}

using Visit = std::function<void(const std::string& path)>;

bool walk(const std::string& root, const WalkLimits& limits, const Visit& folder, const Visit& file,
          StopToken stop) {
  std::error_code error;
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
  if (error) return false;
  std::size_t n_entries = 0;
  for (const auto end = fs::recursive_directory_iterator(); it != end; it.increment(error)) {
    if (error || ++n_entries > limits.max_entries || stop.check()) return false;
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      const bool left_out = skipped(it->path());
      if (it.depth() >= limits.max_depth || left_out) it.disable_recursion_pending();
      if (folder && !left_out) folder(it->path().string());
    } else if (file && it->is_regular_file(ignored)) {
      file(it->path().string());
    }
  }
  return true;
}

}  // namespace

bool walk_files(const std::string& root, const WalkLimits& limits,
                const std::function<void(const std::string& path)>& visit, StopToken stop) {
  return walk(root, limits, {}, visit, std::move(stop));
}

bool walk_folders(const std::string& root, const WalkLimits& limits,
                  const std::function<void(const std::string& path)>& visit, StopToken stop) {
  return walk(root, limits, visit, {}, std::move(stop));
}

std::shared_ptr<const WorkspaceFiles> index_workspace(const std::vector<std::string>& roots, std::uint64_t id,
                                                      StopToken stop) {
  auto files = std::make_shared<WorkspaceFiles>();
  files->id = id;
  for (const std::string& root : roots)
    if (!walk_files(
            root, {}, [&](const std::string& path) { files->index.add(path); }, stop))
      files->complete = false;
  return files;
}

}  // namespace profd
