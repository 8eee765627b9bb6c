#include "server/platform/unix_socket.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace profd {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return fail(ErrorCode::invalid,
                fmt::format("{}: a socket path has 1 to {} bytes", path, sizeof(address.sun_path) - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<UniqueFd> new_socket() {
#ifdef SOCK_CLOEXEC
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
#else
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
#endif
  if (!fd.valid()) return fail(ErrorCode::io, fmt::format("socket: {}", std::strerror(errno)));
  return fd;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<void> remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return fail(ErrorCode::io, path + ": exists and is not a socket; choose another --socket path");
  if (connect_unix(path))
    return fail(ErrorCode::io,
                path + ": in use by another process; connect to that one or choose another path");
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<UniqueFd> listen_unix(const std::string& path) {
  PROFD_TRY(const sockaddr_un address, address_of(path));
  PROFD_CHECK(remove_stale(path));
  PROFD_TRY(UniqueFd fd, new_socket());
  const mode_t previous = ::umask(0177);  // the file is never more open than 0600, not even for a moment
  const int bound = ::bind(fd.get(), generic(address), sizeof(address));
  const int bind_errno = errno;
  ::umask(previous);
  if (bound != 0) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(bind_errno)));
  if (::listen(fd.get(), 64) != 0)
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  return fd;
}

Result<UniqueFd> connect_unix(const std::string& path) {
  PROFD_TRY(const sockaddr_un address, address_of(path));
  PROFD_TRY(UniqueFd fd, new_socket());
  if (::connect(fd.get(), generic(address), sizeof(address)) != 0) {
    const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
    return fail(nobody ? ErrorCode::not_found : ErrorCode::io,
                fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return fd;
}

Result<void> check_peer(int fd) {
#ifdef __linux__
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return fail(ErrorCode::io, fmt::format("peer credentials: {}", std::strerror(errno)));
  const uid_t uid = credentials.uid;
#else
  uid_t uid = 0;
  gid_t gid = 0;
  if (::getpeereid(fd, &uid, &gid) != 0)
    return fail(ErrorCode::io, fmt::format("peer credentials: {}", std::strerror(errno)));
#endif
  if (uid != ::geteuid() && uid != 0)
    return fail(ErrorCode::invalid, fmt::format("a process of user {} may not connect", uid));
  return {};
}

}  // namespace profd
