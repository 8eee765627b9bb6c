#include "server/cli/write_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/terminal.h"

namespace profd {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorCode::io,
              fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

Result<void> write_through(const std::string& path, const std::string& target, int flags,
                           std::string_view content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return cannot_write(target, errno);
  int error = write_all(fd, content);
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return cannot_write(target, error);
  return {};
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view content) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cannot_write(path, EISDIR);
  // A pipe or a device cannot be renamed over.
  if (exists && !S_ISREG(info.st_mode)) return write_through(path, path, 0, content);
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  auto written = write_through(beside, path, O_CREAT | O_EXCL, content);
  if (written && std::rename(beside.c_str(), path.c_str()) != 0) written = cannot_write(path, errno);
  if (!written) ::unlink(beside.c_str());
  return written;
}

}  // namespace profd
