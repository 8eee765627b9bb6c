#include "server/platform/child.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

namespace profd {

Child::Child(std::span<const int> to_default) {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  sigset_t usual, blocked;
  sigemptyset(&usual);
  for (const int signal : to_default) sigaddset(&usual, signal);
  sigemptyset(&blocked);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  ::posix_spawnattr_setsigdefault(&attributes_, &usual);
  ::posix_spawnattr_setsigmask(&attributes_, &blocked);
  ::posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                              POSIX_SPAWN_SETSIGMASK));
}

Child::~Child() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void Child::give_nothing(int as, int flags) {
  ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", flags, 0);
}

void Child::close_from([[maybe_unused]] int first) {
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
  ::posix_spawn_file_actions_addclosefrom_np(&actions_, first);
#endif
#endif
}

Result<pid_t> Child::start(const std::string& program, char* const* argv, char* const* environment) {
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions_, &attributes_, argv, environment);
  if (error != 0) return fail(ErrorCode::io, fmt::format("{}: {}", program, std::strerror(error)));
  return child;
}

#ifdef __linux__
void bound(pid_t child, __rlimit_resource what, std::uint64_t most, std::uint64_t beyond) {
  rlimit now{};
  if (::prlimit(child, what, nullptr, &now) != 0) return;
  const rlim_t soft = std::min<rlim_t>(static_cast<rlim_t>(most), now.rlim_max);
  const rlimit wanted{soft, std::min<rlim_t>(soft + static_cast<rlim_t>(beyond), now.rlim_max)};
  ::prlimit(child, what, &wanted, nullptr);
}
#endif

}  // namespace profd
