// profd serve: the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace profd {

struct ServeOptions {
  // Where clients come from; any of them together. None set: stdio.
  bool stdio = false;
  std::string socket;                 // path of a Unix socket; "" none
  std::optional<std::uint16_t> port;  // TCP on loopback, with a token; 0 lets the system choose
  std::string token_file;  // where port and token are written (mode 0600); "" in the runtime folder

  unsigned threads = 0;             // workers; 0: by the machine
  std::uint64_t memory_budget = 0;  // bytes for all that is held; 0: half of the machine
  unsigned idle_timeout_s = 0;      // exit after so long without clients; 0: never
  std::string log;                  // file; "" stderr
  bool test_mode = false;           // no worker threads, no clock in texts, profd/sync answered
  bool test_threads = false;        // with test_mode: workers nevertheless
};

// Serves until the last stdio client is gone, a signal comes or the idle time is over. Takes over fd 0 and 1
// when `stdio`. Returns the exit code: 0 fine, 1 the environment is at fault (socket in use, ...), with a
// line on stderr.
int run_serve(const ServeOptions& options);

}  // namespace profd
