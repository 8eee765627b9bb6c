#include "server/engine/cache_folder.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "server/engine/atomic_file.h"

namespace profd {

void make_room(const std::string& folder, std::string_view suffix, std::uint64_t max_bytes) {
  constexpr std::time_t kAbandonedAfter = 3600;
  struct Entry {
    timespec used;
    std::uint64_t size;
    std::string path;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  const std::time_t now = std::time(nullptr);
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (AtomicFile::is_temporary(it->path().filename().string())) {
      if (now - status.st_mtim.tv_sec > kAbandonedAfter) ::unlink(path.c_str());
      continue;
    }
    if (!path.ends_with(suffix)) continue;
    entries.push_back({status.st_mtim, static_cast<std::uint64_t>(status.st_size), path});
    total += entries.back().size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= max_bytes) return;
    ::unlink(entry.path.c_str());
    total -= entry.size;
  }
}

}  // namespace profd
