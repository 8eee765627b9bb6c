#include "server/engine/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
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

}  // namespace

AtomicFile::AtomicFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

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
              fmt::format("{} cannot be written: {}", path, std::generic_category().message(errno)));
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
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return failed("renaming failed");
  temporary_.clear();
  return {};
}

}  // namespace profd
