#include "server/engine/profile_listing.h"

#include <algorithm>

namespace profd {

std::size_t ProfileListing::n_rows() const {
  std::size_t n = 0;
  for (const File& file : files)
    n += file.common.state == ProfileEntry::State::opening ? 1 : file.profiles.size();
  return n;
}

std::vector<ProfileEntry> ProfileListing::rows() const {
  std::vector<ProfileEntry> rows;
  rows.reserve(n_rows());
  for (const File& file : files) {
    if (file.common.state == ProfileEntry::State::opening) rows.push_back(file.common);
    for (std::size_t i = 0; i < file.profiles.size(); ++i) {
      const OpenProfilePtr& open = file.profiles[i];
      ProfileEntry& row = rows.emplace_back(file.common);
      row.handle = open->handle;
      row.profile = open;
      row.revision = open->revision;
      row.name = open->name;
      row.member_name = open->member_name();
      row.number = open->number;
      row.is_default = open->handle == meant;
      row.memory = open->profile->memory();
      row.mine = file.mine[i] != 0;
    }
  }
  std::stable_partition(rows.begin(), rows.end(), [](const ProfileEntry& row) { return row.mine; });
  return rows;
}

}  // namespace profd
