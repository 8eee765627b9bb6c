#include "server/cli/record_binaries.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/recordings.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostKept = std::uintmax_t{512} << 20;  // bytes of a recording
constexpr std::size_t kRecordingsLookedAt = 50;
constexpr std::size_t kMostIdLetters = 64;

bool is_of_the_system(std::string_view path) {
  constexpr std::array<std::string_view, 8> kFolders{"/usr/", "/lib/", "/lib32/", "/lib64/",
                                                     "/bin/", "/opt/", "/sbin/",  "/nix/"};
  return std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

// "ab/cdef…" below a folder of build ids; "" of what is none.
std::string place_of_id(std::string_view id) {
  if (id.size() < 8 || id.size() > kMostIdLetters || id.find_first_not_of("0123456789abcdef") != id.npos)
    return "";
  return fmt::format(".build-id/{}/{}", id.substr(0, 2), id.substr(2));
}

bool is_equal(const std::string& one, const std::string& other) {
  std::ifstream a(one, std::ios::binary), b(other, std::ios::binary);
  std::array<char, 65536> x{}, y{};
  while (a && b) {
    a.read(x.data(), x.size());
    b.read(y.data(), y.size());
    if (a.gcount() != b.gcount() || !std::equal(x.begin(), x.begin() + a.gcount(), y.begin())) return false;
  }
  return a.eof() && b.eof();
}

// Made a second name of what another recording keeps, where that is the same to the byte.
bool shares(const std::string& place, const std::string& below, const std::string& file,
            const std::string& to) {
  for (const std::string& name : recording_names(place, kRecordingsLookedAt)) {
    const std::string kept = fmt::format("{}/{}/{}", place, name, below);
    std::error_code error;
    if (kept == to || fs::symlink_status(kept, error).type() != fs::file_type::regular) continue;
    if (!is_equal(kept, file)) continue;
    fs::create_hard_link(kept, to, error);
    return !error;
  }
  return false;
}

}  // namespace

std::string keep_binaries(const Profile& profile, const std::string& place, const std::string& folder) {
  const ModuleTable& modules = profile.modules();
  std::uintmax_t kept = 0;
  std::string said;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const std::string file(profile.strings()[modules.name[m]]);
    const std::string below = place_of_id(profile.strings()[modules.build_id[m]]);
    std::error_code error;
    if (below.empty() || !file.starts_with('/') || is_of_the_system(file) ||
        !fs::is_regular_file(file, error))
      continue;
    const std::uintmax_t size = fs::file_size(file, error);
    const std::string to = folder + "/" + below;
    if (error || fs::exists(to, error)) continue;
    if (size > kMostKept - kept) {
      said = fmt::format(
          "{} ({}) is too large to be kept: when it is built anew, this recording has no names of it",
          sanitize_text(base_name(file)), format_bytes(size));
      continue;
    }
    fs::create_directories(fs::path(to).parent_path(), error);
    if (error || !(shares(place, below, file, to) || fs::copy_file(file, to, error))) {
      said = fmt::format("{} cannot be kept ({}): when it is built anew, this recording has no names of it",
                         sanitize_text(base_name(file)), error.message());
      continue;
    }
    kept += size;
  }
  return said;
}

}  // namespace profd
