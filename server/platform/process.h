// Processes: starting the daemon, and facts about this one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "server/platform/unique_fd.h"

namespace profd {

// Duplicates fd 1 and points fd 1 at stderr, so that a stray print in a library cannot corrupt the protocol.
Result<UniqueFd> take_stdout();

// Path of the running program.
Result<std::string> own_executable();

// Starts a process that outlives this one and has no terminal; its output goes to `log_path` (appended).
Result<void> spawn_detached(const std::vector<std::string>& argv, const std::string& log_path);

// Holds an exclusive lock on a file until destroyed; waits up to `timeout_ms` for it.
class FileLock {
 public:
  static Result<FileLock> acquire(const std::string& path, int timeout_ms);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// Resident bytes of this process; 0 when the system does not say.
std::uint64_t resident_bytes();

bool process_alive(std::int64_t pid);

}  // namespace profd
