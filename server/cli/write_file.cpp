#include "server/cli/write_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/terminal.h"
#include "server/engine/atomic_file.h"

namespace profd {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorCode::io,
              fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

Result<void> write_through(int fd, const std::string& name,
                           const std::function<Result<void>(const FileSink&)>& produce) {
  return produce([&](std::span<const std::byte> bytes) -> Result<void> {
    const int error = write_all(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (error != 0) return cannot_write(name, error);
    return {};
  });
}

}  // namespace

Result<void> write_file(const std::string& path,
                        const std::function<Result<void>(const FileSink&)>& produce) {
  if (path == "-") return write_through(STDOUT_FILENO, "stdout", produce);
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cannot_write(path, EISDIR);
  // A pipe or a device cannot be renamed over.
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cannot_write(path, errno);
    auto written = write_through(fd, path, produce);
    if (::close(fd) != 0 && written) written = cannot_write(path, errno);
    return written;
  }
  PROFD_TRY(AtomicFile file, AtomicFile::create_named(path, true));
  PROFD_CHECK(produce([&](std::span<const std::byte> bytes) { return file.write(bytes); }));
  return file.commit();
}

Result<void> write_file(const std::string& path, std::string_view content) {
  return write_file(path, [&](const FileSink& sink) {
    return sink(std::as_bytes(std::span<const char>(content.data(), content.size())));
  });
}

}  // namespace profd
