#include "formats/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/source_files.h"
#include "formats/support/map_guard.h"
#include "formats/support/output_buffer.h"

namespace profd {
namespace {

// Below this, reading beats mapping: the copy is cheap, and a file that shrinks while it is read gives a
// short read and no guard. Above it, the copy takes time and memory that the file can do without.
constexpr std::uint64_t kMapFrom = 1u << 20;
constexpr int kPipeTimeoutMs = 30'000;
// Between two looks at the stop token, which has no descriptor to wait for.
constexpr int kPipeStepMs = 20;
constexpr std::size_t kMaxRead = std::size_t{1} << 20;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> system_failure(const std::string& path, int error) {
  return fail(error == ENOENT || error == ENOTDIR ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("{}: {}", path, std::generic_category().message(error)));
}

tl::unexpected<Error> too_large(const std::string& path, std::uint64_t max_bytes) {
  return fail(ErrorCode::limit, fmt::format("{}: larger than {} bytes (limit input_bytes)", path, max_bytes));
}

std::uint64_t half_of_the_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2
                               : std::uint64_t{4} << 30;
}

// Reads until the end; `expected` sizes the buffer.
Result<ByteSource> read_all(const FileDescriptor& file, const std::string& path, std::uint64_t expected,
                            std::uint64_t max_bytes, bool is_pipe, const StopToken& stop) {
  OutputBuffer out;
  int waited_ms = 0;
  // What is not mapped is memory.
  max_bytes = std::min(max_bytes, half_of_the_memory());
  PROFD_CHECK(out.grow(
      static_cast<std::size_t>(std::min(std::max<std::uint64_t>(expected + 1, 1u << 16), max_bytes)), 0));
  std::size_t used = 0;
  for (;;) {
    PROFD_CHECK(stop.status());
    if (used == out.capacity()) {
      if (used > max_bytes) return too_large(path, max_bytes);
      PROFD_CHECK(out.grow(used * 2, used));
    }
    if (is_pipe) {
      pollfd waiting{file.get(), POLLIN, 0};
      const int ready = poll(&waiting, 1, kPipeStepMs);
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return system_failure(path, errno);
      waited_ms = ready == 0 ? waited_ms + kPipeStepMs : 0;
      if (waited_ms >= kPipeTimeoutMs)
        return fail(ErrorCode::io,
                    fmt::format("{}: nothing was written to the pipe for {} s", path, kPipeTimeoutMs / 1000));
      if (ready == 0) continue;
    }
    const ssize_t n = read(file.get(), out.data() + used, std::min(out.capacity() - used, kMaxRead));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return system_failure(path, errno);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > max_bytes) return too_large(path, max_bytes);
  }
  auto [data, owner] = std::move(out).freeze(used);
  ByteSource source({data, used}, std::move(owner), path);
  source.set_private(true);
  return source;
}

}  // namespace

Result<ByteSource> open_file(const std::string& path, std::uint64_t max_bytes, OpenRule rule,
                             const StopToken& stop) {
  if (path.find('\0') != std::string::npos) return fail(ErrorCode::invalid, "a path cannot hold a zero byte");
  if (rule == OpenRule::regular) PROFD_CHECK(check_ordinary(path));
  // Not blocking: opening a pipe without a writer must not hang.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_failure(path, errno);
  // Again, of what was opened: another file may stand there by now.
  if (rule == OpenRule::regular) PROFD_CHECK(check_ordinary(path, file.get()));
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_failure(path, errno);
  if (S_ISDIR(status.st_mode))
    return fail(ErrorCode::io, fmt::format("{}: is a directory; name a file inside it", path));
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!S_ISREG(status.st_mode) && !is_pipe)
    return fail(ErrorCode::io, fmt::format("{}: is neither a file nor a pipe", path));
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  if (size > max_bytes) return too_large(path, max_bytes);
  // Files below /proc claim to be empty.
  if (is_pipe || size < kMapFrom) return read_all(file, path, size, max_bytes, is_pipe, stop);
  const auto length = static_cast<std::size_t>(size);
  void* place = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (place == MAP_FAILED) return system_failure(path, errno);
  madvise(place, length, MADV_SEQUENTIAL);
  std::shared_ptr<const MapGuard> guard = MapGuard::make(place, length);
  if (!guard) {
    munmap(place, length);
    return read_all(file, path, size, max_bytes, false, stop);
  }
  // The guard ends before the mapping does: another one may be made at the same place.
  std::shared_ptr<const void> owner(place, [length, guard](const void* p) mutable {
    guard.reset();
    munmap(const_cast<void*>(p), length);
  });
  ByteSource source({static_cast<const std::byte*>(place), length}, std::move(owner), path);
  source.set_mapped_file(std::move(guard));
  return source;
}

bool ByteSource::shrank() const {
  return guard_ && guard_->shrank();
}

void ByteSource::forget_pages() const {
  // Only for pages the file can give again: elsewhere this would lose what they hold.
  if (guard_) madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

ByteSource memory_source(std::string content, std::string name) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(owner->data()), owner->size());
  ByteSource source(bytes, std::move(owner), std::move(name));
  source.set_private(true);
  return source;
}

}  // namespace profd
