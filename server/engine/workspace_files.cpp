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

}  // namespace

bool is_skipped_folder(std::string_view name) {
  return std::find(kSkipped.begin(), kSkipped.end(), name) != kSkipped.end();
}

bool walk_files(const std::string& root, const WalkLimits& limits,
                const std::function<bool(const std::string& path)>& visit, const StopToken& stop) {
  std::error_code error;
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
  if (error) return false;
  std::size_t n_entries = 0;
  for (const auto end = fs::recursive_directory_iterator(); it != end; it.increment(error)) {
    // Asked every time: an entry may take long where the disk is far away.
    if (error || ++n_entries > limits.max_entries || stop.stop_requested()) return false;
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (it.depth() >= limits.max_depth || is_skipped_folder(it->path().filename().string()))
        it.disable_recursion_pending();
    } else if (it->is_regular_file(ignored)) {
      if (!visit(it->path().string())) return false;
    }
  }
  return true;
}

std::shared_ptr<WorkspaceFiles> index_workspace(const std::vector<std::string>& roots, std::uint64_t id,
                                                const StopToken& stop, std::uint64_t room) {
  auto files = std::make_shared<WorkspaceFiles>();
  files->id = id;
  files->room = room;
  const auto add = [&](const std::string& path) {
    files->no_room = files->index.memory() >= room;
    if (!files->no_room) files->index.add(path);
    return !files->no_room;
  };
  for (const std::string& root : roots)
    if (!files->no_room && !walk_files(root, {}, add, stop)) files->complete = false;
  return files;
}

}  // namespace profd
