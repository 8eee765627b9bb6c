// The proxy of `profd lsp --wrap`: an editor on stdin and stdout, a language server as a child, the user's
// daemon.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

struct RunProxyOptions {
  std::vector<std::string> command;          // the language server and its arguments
  std::chrono::milliseconds patience{200};   // how long its answers wait for profd's
  std::string version;                       // of this program
  std::string log;                           // a file for all that is said; "" none
  std::function<Result<UniqueFd>()> daemon;  // a new connection; blocks, is called on any thread
};

// Until the editor or the wrapped server is gone. Takes over fd 0 and 1. Returns the exit code of the wrapped
// server, 128 + N when signal N ended it; 127 when it cannot be started, 1 when the log cannot be written,
// with a line on stderr. Threads may be left, so the process is to end with it.
int run_proxy(const RunProxyOptions& options);

}  // namespace profd
