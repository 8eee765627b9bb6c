#include "server/engine/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace profd {
namespace {

constexpr std::string_view kMark = ".profd-part-";
// The largest write; between two the caller may be asked to stop.
constexpr std::size_t kMaxWrite = 16u << 20;

tl::unexpected<Error> cannot_look_at(const std::string& path) {
  return fail(ErrorCode::io, fmt::format("{}: {}", path, std::generic_category().message(errno)));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "no regular file";
}

}  // namespace

Result<std::string> replaceable_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) return fail(ErrorCode::invalid, "a path cannot hold a zero byte");
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return path;
    return cannot_look_at(path);
  }
  if (S_ISREG(status.st_mode)) return path;
  if (!S_ISLNK(status.st_mode))
    return fail(ErrorCode::io,
                fmt::format("{}: is {}; only a regular file is replaced", path, kind_of(status.st_mode)));
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fail(ErrorCode::io, path + ": is a link that another user made; it is not followed");
  const std::unique_ptr<char, void (*)(void*)> target(::realpath(path.c_str(), nullptr), std::free);
  if (!target)
    return fail(ErrorCode::io, path + ": is a link that leads nowhere; remove it, or name its target");
  if (::lstat(target.get(), &status) != 0) return cannot_look_at(target.get());
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::io,
                fmt::format("{}: is a link to {}, which is {}; only a regular file is replaced", path,
                            target.get(), kind_of(status.st_mode)));
  return std::string(target.get());
}

AtomicFile::AtomicFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      replace_(other.replace_) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool AtomicFile::is_temporary(std::string_view file_name) {
  return file_name.find(kMark) != std::string_view::npos;
}

Result<AtomicFile> AtomicFile::create(std::string path, mode_t mode) {
  if (path.find('\0') != std::string::npos) return fail(ErrorCode::invalid, "a path cannot hold a zero byte");
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string temporary = fmt::format("{}{}{}-{:08x}", path, kMark, ::getpid(), random());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0) return AtomicFile(fd, std::move(path), std::move(temporary));
    if (errno != EEXIST) break;
  }
  return fail(ErrorCode::io,
              fmt::format("{}: cannot be written: {}", path, std::generic_category().message(errno)));
}

Result<AtomicFile> AtomicFile::create_named(const std::string& path, bool overwrite) {
  struct stat status {};
  if (!overwrite && ::lstat(path.c_str(), &status) == 0)
    return fail(ErrorCode::io, path + ": is there already; say `overwrite` to replace it");
  PROFD_TRY(std::string place, replaceable_file(path));
  PROFD_TRY(AtomicFile file, create(std::move(place)));
  file.replace_ = overwrite;
  return file;
}

tl::unexpected<Error> AtomicFile::failed(const char* what) const {
  return fail(ErrorCode::io, fmt::format("{}: {}: {}", path_, what, std::generic_category().message(errno)));
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("writing failed");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (::close(std::exchange(fd_, -1)) != 0) return failed("writing failed");
  // link() refuses what came there meanwhile, rename() replaces it.
  if (!replace_) {
    if (::link(temporary_.c_str(), path_.c_str()) != 0) return failed("renaming failed");
    ::unlink(temporary_.c_str());
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return failed("renaming failed");
  }
  temporary_.clear();
  return {};
}

}  // namespace profd
