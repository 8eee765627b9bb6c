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

Result<std::vector<std::string>> list_files_below(const std::string& path, std::size_t max_depth,
                                                  std::size_t max_files) {
  std::error_code error;
  std::vector<std::string> files;
  fs::recursive_directory_iterator it(path, error);
  const fs::recursive_directory_iterator end;
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", path, error.message()));
  while (it != end) {
    const bool hidden = it->path().filename().string().starts_with('.');
    std::error_code unknown;
    const bool link = it->is_symlink(unknown);
    if (it->is_directory(unknown)) {
      if (hidden || link || it.depth() >= static_cast<int>(max_depth)) it.disable_recursion_pending();
    } else if (!hidden && !link && it->is_regular_file(unknown)) {
      if (files.size() == max_files)
        return fail(ErrorCode::limit, fmt::format("{} holds more than {} files", path, max_files));
      files.push_back(it->path().lexically_relative(path).generic_string());
    }
    it.increment(error);
    if (error) return fail(ErrorCode::io, fmt::format("{}: {}", path, error.message()));
  }
  return files;
}

}  // namespace profd
