#include "server/engine/find_open.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "server/engine/pick_profile.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr std::size_t kCandidatesShown = 8;

std::string path_of(const ProfileEntry& entry) {
  return path_of_uri(entry.uri).value_or(entry.uri);
}

// "/w/a/cpu.pprof" ends with "a/cpu.pprof", and not with "u.pprof".
bool ends_with_path(const std::string& path, const std::string& end) {
  return path.size() > end.size() && !end.empty() && path.ends_with(end) &&
         (end.front() == '/' || path[path.size() - end.size() - 1] == '/');
}

// "p1 cpu.pprof (/w/a/cpu.pprof)".
std::string candidates(const std::vector<const ProfileEntry*>& entries) {
  std::string text;
  for (std::size_t i = 0; i < std::min(entries.size(), kCandidatesShown); ++i) {
    text += fmt::format("{}{} {} ({})", i == 0 ? "" : ", ", entries[i]->handle, entries[i]->name,
                        path_of(*entries[i]));
  }
  if (entries.size() > kCandidatesShown) text += ", …";
  return text;
}

}  // namespace

Result<std::string> find_open(const std::vector<ProfileEntry>& open, const OpenProfilePtr& meant,
                              const std::string& named) {
  for (const ProfileEntry& entry : open)
    if (entry.handle == named) return named;
  if (meant) {
    if (const auto picked = pick_profile(meant->loaded->profiles, named); picked && !named.empty()) {
      for (const ProfileEntry& entry : open)
        if (entry.profile && entry.profile->loaded == meant->loaded && entry.number == *picked + 1)
          return entry.handle;
    }
  }
  using Is = std::function<bool(const ProfileEntry&)>;
  const Is levels[] = {
      [&](const ProfileEntry& entry) {
        return entry.name == named || entry.uri == named || path_of(entry) == named;
      },
      [&](const ProfileEntry& entry) { return entry.member_name == named; },
      [&](const ProfileEntry& entry) { return ends_with_path(path_of(entry), named); },
  };
  for (const Is& is : levels) {
    std::vector<const ProfileEntry*> found;
    for (const ProfileEntry& entry : open)
      if (!named.empty() && is(entry)) found.push_back(&entry);
    if (found.size() == 1) return found[0]->handle;
    if (found.size() > 1)
      return fail(ErrorCode::invalid, fmt::format("\"{}\" is {} open profiles: {}; a handle picks one", named,
                                                  found.size(), candidates(found)));
  }
  std::vector<const ProfileEntry*> all;
  for (const ProfileEntry& entry : open) all.push_back(&entry);
  return fail(ErrorCode::not_found,
              all.empty()
                  ? fmt::format("no profile \"{}\" is open, and no other", named)
                  : fmt::format("no open profile is called \"{}\"; open: {}", named, candidates(all)));
}

}  // namespace profd
