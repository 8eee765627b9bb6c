// Processes: starting the daemon, and facts about this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

// Duplicates fd 1 and points fd 1 at stderr, so that a stray print in a library cannot corrupt the protocol.
Result<UniqueFd> take_stdout();

// Path of the running program.
Result<std::string> own_executable();

// Opens what of 0, 1 and 2 is closed, on nothing: a socket or a log must not become somebody's stdout.
void open_standard_descriptors();

// Programs that this one starts do not get the descriptor.
void keep_from_children(int fd);

// How many descriptors this process may have open.
std::size_t descriptor_limit();

// Starts a process that outlives this one and has no terminal; its output goes to `log_path` (appended). It
// inherits no other descriptor, whoever opened it: who waits for the end of a pipe must not wait for a
// daemon.
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
