#include "server/platform/runtime_dir.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/support/unique_fd.h"

namespace profd {
namespace {

Result<void> check_private(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  if (!S_ISDIR(status.st_mode)) return fail(ErrorCode::io, path + ": is not a folder");
  if (status.st_uid != ::geteuid()) return fail(ErrorCode::io, path + ": belongs to another user");
  if ((status.st_mode & 077) != 0)
    return fail(ErrorCode::io, path + ": other users may enter it; it needs mode 0700");
  return {};
}

}  // namespace

Result<std::string> runtime_dir() {
  const char* xdg = std::getenv("XDG_RUNTIME_DIR");
  const std::string path = xdg != nullptr && xdg[0] == '/' ? std::string(xdg) + "/profd"
                                                           : fmt::format("/tmp/profd-{}", ::geteuid());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  PROFD_CHECK(check_private(path));
  return path;
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail(ErrorCode::io, path + ": is there and is no regular file; it is not replaced");
  const std::string fresh = fmt::format("{}.{}", path, ::getpid());
  UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail(ErrorCode::io, fmt::format("{}: {}", fresh, std::strerror(errno)));
  const bool written =
      ::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (!written || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(error)));
  }
  return {};
}

}  // namespace profd
