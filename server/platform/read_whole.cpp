#include "server/platform/read_whole.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace profd {

Result<std::string> read_whole(int fd, const std::string& path, std::size_t most, std::string_view too_large,
                               const StopToken& stop) {
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
    if (n == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(n) > most)
      return fail(ErrorCode::limit, fmt::format("{} {}", path, too_large));
    bytes.append(buffer, static_cast<std::size_t>(n));
    PROFD_CHECK(stop.status());
  }
}

}  // namespace profd
