#include "server/platform/open_below.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace profd {
namespace fs = std::filesystem;
namespace {

bool is_in(const fs::path& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error) return false;
    const auto [end, at] = std::mismatch(real.begin(), real.end(), path.begin(), path.end());
    return end == real.end() && at != path.end();
  });
}

tl::unexpected<Error> outside(const std::string& path) {
  return fail(ErrorCode::not_found,
              path + " is not a file of the workspace; profd shows the text of files in its folders alone");
}

// What was opened, by its own word: a path can mean another file by now.
Result<std::string> path_of(int fd, const std::string& path) {
#ifdef __APPLE__
  char buffer[PATH_MAX];
  if (::fcntl(fd, F_GETPATH, buffer) != 0) return outside(path);
  return std::string(buffer);
#else
  std::error_code error;
  const fs::path real = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  if (error) return outside(path);
  return real.string();
#endif
}

}  // namespace

Result<UniqueFd> open_below(const std::vector<std::string>& folders, const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || !is_in(real, folders)) return outside(path);
  // Never waits for the other end of a pipe.
  UniqueFd fd(::open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::io, path + ": is not a regular file");
  PROFD_TRY(const std::string opened, path_of(fd.get(), path));
  if (!is_in(opened, folders)) return outside(path);
  return fd;
}

}  // namespace profd
