// An open profile as requests see it: an immutable snapshot that stays good while it is used, whatever is
// reloaded or closed meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/profile.h"
#include "formats/open.h"
#include "server/platform/file_watcher.h"

namespace profd {

// One file as it was read.
struct LoadedFile {
  OpenedFile opened;
  std::string path;
  FileStamp stamp;
  std::size_t memory = 0;  // of all profiles in it
};

struct OpenProfile {
  std::string handle;          // stable for the life of the daemon, never reused
  std::uint32_t revision = 1;  // counts reloads
  std::uint64_t view_id = 0;   // of this revision in the view cache
  std::string uri;
  std::string name;          // for people
  std::uint32_t number = 1;  // its place among the profiles of its file, from 1
  MetricId metric{0u};       // the default one
  ProfilePtr profile;
  std::shared_ptr<const LoadedFile> file;

  [[nodiscard]] const MetricInfo& metric_info() const { return profile->metrics()[metric.v]; }
  [[nodiscard]] std::size_t n_in_file() const { return file->opened.profiles.size(); }
  // What the file calls it; "" nothing.
  [[nodiscard]] const std::string& member_name() const { return profile->info().name; }
};

using OpenProfilePtr = std::shared_ptr<const OpenProfile>;

}  // namespace profd
