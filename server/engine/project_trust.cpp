#include "server/engine/project_trust.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/support/unique_fd.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr int kMaxLevels = 64;
constexpr const char* kName = ".profd.toml";

// The group that many systems make for each user alone, so that "writable by the group" says nothing.
bool is_group_of_user_alone(gid_t gid) {
  char user_text[4096], group_text[4096];
  passwd user{};
  passwd* found_user = nullptr;
  if (::getpwuid_r(::geteuid(), &user, user_text, sizeof(user_text), &found_user) != 0 || !found_user)
    return false;
  group own{};
  group* found_group = nullptr;
  if (::getgrgid_r(gid, &own, group_text, sizeof(group_text), &found_group) != 0 || !found_group)
    return false;
  const std::string_view name = user.pw_name;
  if (user.pw_gid != gid || name != own.gr_name) return false;
  for (char** member = own.gr_mem; member != nullptr && *member != nullptr; ++member)
    if (name != *member) return false;
  return true;
}

// Why others than this user and root decide about it; nothing when they do not. A sticky folder is open to
// others like any: whoever is first puts the file there.
std::optional<std::string> open_to_others(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("belongs to user {}", status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return "can be written to by everybody";
  if ((status.st_mode & S_IWGRP) != 0 && !is_group_of_user_alone(status.st_gid))
    return fmt::format("can be written to by group {}", status.st_gid);
  return std::nullopt;
}

std::string parent_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

}  // namespace

FoundProjectFile find_project_file(std::string_view folder) {
  FoundProjectFile found;
  fs::path at(folder);
  for (int level = 0; level < kMaxLevels; ++level) {
    const std::string candidate = (at / kName).string();
    const FileStamp seen = stamp_of(candidate).value_or(FileStamp{});
    struct stat status {
    }, file{};
    const bool is_there = ::lstat(candidate.c_str(), &file) == 0;
    if (::stat(at.c_str(), &status) == 0) {
      if (const auto why = open_to_others(status)) {
        if (is_there) found.problems.push_back(fmt::format("{} is not used: its folder {}", candidate, *why));
        return found;
      }
      found.places.push_back({candidate, seen});
      if (is_there && (S_ISREG(file.st_mode) || S_ISLNK(file.st_mode))) {
        found.path = candidate;
        return found;
      }
    }
    if (!at.has_relative_path()) break;
    at = at.parent_path();
  }
  return found;
}

Result<std::string> read_project_text(const std::string& path, std::size_t max_bytes) {
  const auto refuse = [&](std::string_view why) -> tl::unexpected<Error> {
    return fail(ErrorCode::invalid, fmt::format("{} is not used: it {}", path, why));
  };
  if (!really_inside(parent_of(path), path)) return refuse("is a link that leads out of its folder");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid())
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::generic_category().message(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return refuse("is no regular file");
  if (const auto why = open_to_others(status)) return refuse(*why);
  const auto too_large = [&] {
    return fail(ErrorCode::limit, fmt::format("{}: larger than {} bytes", path, max_bytes));
  };
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return too_large();
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(ErrorCode::io, fmt::format("{}: {}", path, std::generic_category().message(errno)));
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > max_bytes) return too_large();
  }
}

std::optional<std::string> why_open_to_others(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return open_to_others(status);
}

std::string outside_text(std::string_view what, std::string_view advice) {
  return fmt::format("\"{}\" leads out of the folder of the project file and is not used; {}", what, advice);
}

bool lies_inside(const std::string& root, const std::string& path) {
  const fs::path inner = fs::path(path).lexically_normal(), outer = fs::path(root).lexically_normal();
  const fs::path way = inner.lexically_relative(outer);
  return !way.empty() && *way.begin() != "..";
}

bool really_inside(const std::string& root, const std::string& path) {
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  if (error) return false;
  const fs::path real = fs::weakly_canonical(path, error);
  return !error && lies_inside(real_root.string(), real.string());
}

std::vector<std::string> take_out_outside(const std::string& root, std::vector<std::string>& paths) {
  const auto stays = [&](const std::string& path) {
    std::error_code error;
    return really_inside(root, path) && fs::is_regular_file(path, error);
  };
  const auto first_out = std::stable_partition(paths.begin(), paths.end(), stays);
  std::vector<std::string> out(std::make_move_iterator(first_out), std::make_move_iterator(paths.end()));
  paths.erase(first_out, paths.end());
  return out;
}

}  // namespace profd
