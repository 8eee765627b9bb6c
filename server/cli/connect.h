// profd connect: stdio for editors, in front of the user's one shared daemon.
#pragma once

#include <string>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

struct ConnectOptions {
  std::string socket;             // "": daemon.sock in the runtime folder
  unsigned idle_timeout_s = 900;  // of a daemon that this starts
  std::string log;                // of a daemon that this starts; "": daemon.log beside the socket
  bool start = true;              // start a daemon when none runs
};

// A connection to the daemon, which runs as this user; started when none runs and the options say so.
Result<UniqueFd> connect_to_daemon(const ConnectOptions& options);

// Copies bytes both ways until either side closes. Returns the exit code.
int run_connect(const ConnectOptions& options);

}  // namespace profd
