// WrappedProcess: the language server that is wrapped, on two pipes; its standard error is that of this
// process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

struct WrappedProcess {
  pid_t pid = -1;  // and its group
  UniqueFd in, out;
};

// `io`: there is no such program, or it cannot be started.
Result<WrappedProcess> start_wrapped(const std::vector<std::string>& argv);

// How a process that has ended did; it is no more after this.
struct Ending {
  int exit_code = 0;  // as a shell counts: 128 + N after signal N
  std::string how;    // "ended with code 3", "was ended by signal 11 (Segmentation fault)"
};
Ending ending_of(pid_t pid);

// Calls `on_end` on a thread of its own when it has ended. That is still to be asked for with ending_of().
void when_ended(pid_t pid, std::function<void()> on_end);

}  // namespace profd
