// The files of a cache of the user's: how many there may be.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

struct CacheFile {
  std::string path;
  std::uint64_t size = 0;
  timespec written{}, used{};  // used: written or, where the system notes it, read
};
// The files of a folder, without what is in folders below it.
std::vector<CacheFile> files_in(const std::string& folder);

bool is_before(const timespec& a, const timespec& b);

// Deletes files, in the order given, until at most `max_bytes` of `total` are left. What is gone already,
// another process has deleted; what cannot be deleted stays and counts.
void remove_until(std::uint64_t total, std::uint64_t max_bytes, const std::vector<CacheFile>& files);

// Deletes files that end in `suffix`, those first that were written (as each use does) longest ago, until the
// rest has at most `max_bytes`; and what AtomicFile writers that died left an hour ago. Other files stay.
void make_room(const std::string& folder, std::string_view suffix, std::uint64_t max_bytes);

}  // namespace profd
