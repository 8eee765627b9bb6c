#include "formats/source_files.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace profd {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code unknown;
  return path.find('\0') == std::string::npos && fs::is_directory(path, unknown);
}

bool is_regular_file(const std::string& path) {
  std::error_code unknown;
  return path.find('\0') == std::string::npos && fs::is_regular_file(path, unknown);
}

std::vector<std::string> list_files_in(const std::string& path, std::size_t max_files) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end && files.size() < max_files;
       it.increment(error)) {
    std::string file = it->path().filename().string();
    std::error_code unknown;
    if (!file.starts_with('.') && it->is_regular_file(unknown)) files.push_back(std::move(file));
  }
  return files;
}

Result<FilesBelow> list_files_below(const std::string& path, std::size_t max_depth, std::size_t max_files) {
  struct Waiting {
    fs::path folder;
    std::size_t depth;
  };
  FilesBelow out;
  std::vector<Waiting> waiting{{path, 0}};
  while (!waiting.empty()) {
    const Waiting now = std::move(waiting.back());
    waiting.pop_back();
    std::error_code error;
    fs::directory_iterator it(now.folder, error);
    for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
      const bool hidden = it->path().filename().string().starts_with('.');
      std::error_code unknown;
      if (hidden || it->is_symlink(unknown)) continue;
      if (it->is_directory(unknown)) {
        if (now.depth < max_depth) waiting.push_back({it->path(), now.depth + 1});
      } else if (it->is_regular_file(unknown)) {
        if (out.files.size() == max_files)
          return fail(ErrorCode::limit, fmt::format("{} holds more than {} files", path, max_files));
        out.files.push_back(it->path().lexically_relative(path).generic_string());
      }
    }
    if (!error) continue;
    if (now.depth == 0) return fail(ErrorCode::io, fmt::format("{}: {}", path, error.message()));
    out.unreadable.push_back({ErrorCode::io,
                              fmt::format("the folder cannot be listed: {}", error.message()),
                              std::nullopt,
                              {now.folder.lexically_relative(path).generic_string()}});
  }
  return out;
}

}  // namespace profd
