#include "formats/source_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

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

namespace {

// File systems whose files are made up as they are read.
bool is_made_up(const struct statfs& system) {
#if defined(__linux__)
  // proc, sys, debug, trace, security, config, cgroup, cgroup2, bpf, pstore, efivarfs, devpts, selinux
  constexpr std::array<std::uint32_t, 13> kMagic{0x9fa0,     0x62656572, 0x64626720, 0x74726163, 0x73636673,
                                                 0x62656570, 0x27e0eb,   0x63677270, 0xcafe4a11, 0x6165676c,
                                                 0xde5e81e4, 0x1cd1,     0xf97cff8c};
  return std::find(kMagic.begin(), kMagic.end(), static_cast<std::uint32_t>(system.f_type)) != kMagic.end();
#else
  const std::string_view type(system.f_fstypename);
  return type == "procfs" || type == "devfs" || type == "fdesc";
#endif
}

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a folder";
  return "a device";
}

}  // namespace

Result<void> check_ordinary(const std::string& path, int fd) {
  constexpr std::string_view kAdvice = "only the command line reads it, when a person names it there";
  struct stat status {};
  if ((fd >= 0 ? ::fstat(fd, &status) : ::stat(path.c_str(), &status)) != 0)
    return fail(errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::io,
                fmt::format("{}: {}", path, std::generic_category().message(errno)));
  if (!S_ISREG(status.st_mode) && (fd >= 0 || !S_ISDIR(status.st_mode)))
    return fail(ErrorCode::invalid,
                fmt::format("{} is {}, not a file; {}", path, kind_of(status.st_mode), kAdvice));
  struct statfs system {};
  if ((fd >= 0 ? ::fstatfs(fd, &system) : ::statfs(path.c_str(), &system)) == 0 && is_made_up(system))
    return fail(ErrorCode::invalid,
                fmt::format("{} is made up by the kernel as it is read; {}", path, kAdvice));
  return {};
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
