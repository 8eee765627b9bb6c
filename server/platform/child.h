// Starting a process: with the descriptors that it is given and no others, and a group of its own, which what
// a terminal sends to the daemon's does not reach and which ends with one signal.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/support/result.h"

namespace profd {

class Child {
 public:
  // `to_default`: signals that it handles as programs usually do; none is blocked.
  explicit Child(std::span<const int> to_default);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // In this order, which matters where one's number is another's.
  void give(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void give_nothing(int as, int flags);  // /dev/null
  // Of those from `first` on it has none: what libraries and callers opened is not always closed by itself.
  void close_from(int first);

  // `argv` and `environment` end with a null. A name without a slash is looked for on the PATH of this
  // process.
  Result<pid_t> start(const std::string& program, char* const* argv, char* const* environment);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

#ifdef __linux__
// Bounds what a process may take, within what it is bound to already; `beyond`: how much later the bound is
// that it cannot move.
void bound(pid_t child, __rlimit_resource what, std::uint64_t most, std::uint64_t beyond = 0);
#endif

}  // namespace profd
