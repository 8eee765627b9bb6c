#include "server/platform/new_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace profd {
namespace {

tl::unexpected<Error> failed(const std::string& path) {
  return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

NewFile::NewFile(std::string path, std::string beside, UniqueFd fd, bool overwrite)
    : path_(std::move(path)), beside_(std::move(beside)), fd_(std::move(fd)), overwrite_(overwrite) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, {})),
      fd_(std::move(other.fd_)),
      overwrite_(other.overwrite_) {}

NewFile::~NewFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

Result<NewFile> NewFile::create(const std::string& path, bool overwrite) {
  if (!overwrite && ::access(path.c_str(), F_OK) == 0)
    return fail(ErrorCode::io, path + ": is there already; say `overwrite` to replace it");
  std::string beside = path + ".XXXXXX";
  UniqueFd fd(::mkstemp(beside.data()));
  if (!fd.valid()) return failed(path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd.get(), 0666 & ~mask);
  return NewFile(path, std::move(beside), std::move(fd), overwrite);
}

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> NewFile::finish() {
  // link() refuses what came there meanwhile, rename() replaces it.
  const int done =
      overwrite_ ? std::rename(beside_.c_str(), path_.c_str()) : ::link(beside_.c_str(), path_.c_str());
  if (done != 0) return failed(path_);
  if (!overwrite_) ::unlink(beside_.c_str());
  beside_.clear();
  return {};
}

}  // namespace profd
