// Running a program in the terminal of the command line, as a job of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/support/result.h"
#include "server/cli/record_patience.h"
#include "server/cli/record_sampler.h"

namespace profd {

struct TerminalRun {
  int exit_code = 0;         // as a shell counts: 128 + N after signal N
  bool interrupted = false;  // by a signal, of the terminal or to this process
  double seconds = 0;
  std::string sampler_failure;  // what a sampler beside it said when it gave up; the program was ended then
};

struct TerminalHow {
  Patience patience;
  BesideSampler* beside = nullptr;           // may be null
  std::function<void(double seconds)> tick;  // about once a second while it runs; may be empty
};

// Runs `argv` (no shell; the first word is looked for on the PATH) with the standard descriptors of this
// process and waits for it. It is a process group, and has the terminal while it runs when this process had
// it. SIGINT, SIGTERM or SIGHUP to this process: the group gets SIGINT, later SIGTERM, then SIGKILL; each
// further signal takes the next step at once. What is left of the group when the program has ended is ended,
// too. Blocks; one call at a time, on the only thread.
Result<TerminalRun> run_in_terminal(const std::vector<std::string>& argv, const TerminalHow& how = {});

// Waits for SIGINT, SIGTERM or SIGHUP, for `seconds` where there are any, or until the process is gone.
// Gives how long that was.
double wait_in_terminal(pid_t process, const std::optional<double>& seconds,
                        const std::function<void(double seconds)>& tick);

}  // namespace profd
