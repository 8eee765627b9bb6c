#include "server/engine/cache_folder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "server/engine/atomic_file.h"

namespace profd {

std::vector<CacheFile> files_in(const std::string& folder) {
  std::vector<CacheFile> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string path = it->path().string();
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    out.push_back({std::move(path), static_cast<std::uint64_t>(status.st_size), status.st_mtim,
                   std::max(status.st_atim, status.st_mtim, is_before)});
  }
  return out;
}

bool is_before(const timespec& a, const timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

void remove_until(std::uint64_t total, std::uint64_t max_bytes, const std::vector<CacheFile>& files) {
  for (const CacheFile& file : files) {
    if (total <= max_bytes) return;
    if (::unlink(file.path.c_str()) == 0 || errno == ENOENT) total -= file.size;
  }
}

void make_room(const std::string& folder, std::string_view suffix, std::uint64_t max_bytes) {
  constexpr std::time_t kAbandonedAfter = 3600;
  const std::time_t now = std::time(nullptr);
  std::vector<CacheFile> files = files_in(folder);
  std::uint64_t total = 0;
  std::erase_if(files, [&](const CacheFile& file) {
    if (AtomicFile::is_temporary(std::filesystem::path(file.path).filename().string())) {
      if (now - file.written.tv_sec > kAbandonedAfter) ::unlink(file.path.c_str());
      return true;
    }
    if (!file.path.ends_with(suffix)) return true;
    total += file.size;
    return false;
  });
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return is_before(a.written, b.written); });
  remove_until(total, max_bytes, files);
}

}  // namespace profd
