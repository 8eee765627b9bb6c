#include "server/engine/file_identities.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#endif

namespace profd {

void add_identities(const Profile& profile, FileIdentities& to) {
  const ProfileInfo& info = profile.info();
  for (const auto& [key, value] : info.properties) {
    if (!key.starts_with(kFileIdentityKey)) continue;
    if (const auto identity = parse_identity(value))
      to.by_name.insert_or_assign(key.substr(kFileIdentityKey.size()), *identity);
  }
  // What the recording says itself is no later than what its file does.
  if (info.time_ns && to.recorded_ns != 0) to.recorded_ns = std::min(to.recorded_ns, *info.time_ns);
}

#ifdef __linux__
namespace {

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t begun_ns(const std::string& path) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &status) != 0) return 0;
  const std::int64_t written = nanoseconds(status.stx_mtime);
  return (status.stx_mask & STATX_BTIME) != 0 ? std::min(written, nanoseconds(status.stx_btime)) : written;
}

std::string why_another(int fd, const FileIdentity& recorded, std::int64_t recorded_ns) {
  struct statx status {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MTIME | STATX_CTIME, &status) != 0)
    return "its inode cannot be asked for";
  FileIdentity here{status.stx_dev_major, status.stx_dev_minor, status.stx_ino, 0};
  int generation = 0;
  // File systems that say no generation use 0.
  if (::ioctl(fd, FS_IOC_GETVERSION, &generation) == 0)
    here.generation = static_cast<std::uint32_t>(generation);
  // What is told of programs that ran before has none: their inodes were not free for others.
  if (recorded.generation == 0) here.generation = 0;
  if (!(here == recorded))
    return fmt::format("another file: device, inode and generation are {}, not {}", identity_text(here),
                       identity_text(recorded));
  const std::int64_t changed = std::max(nanoseconds(status.stx_mtime), nanoseconds(status.stx_ctime));
  if (recorded_ns == 0 || changed >= recorded_ns) return "changed since it was recorded";
  return {};
}
#else
std::int64_t begun_ns(const std::string&) {
  return 0;
}

std::string why_another(int, const FileIdentity&, std::int64_t) {
  return "the recording has no build id of it";
}
#endif

}  // namespace profd
