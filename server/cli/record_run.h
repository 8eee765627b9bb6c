// Running a program in the terminal of the command line, as a job of its own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/support/result.h"

namespace profd {

struct TerminalRun {
  int exit_code = 0;         // as a shell counts: 128 + N after signal N
  bool interrupted = false;  // by a signal, of the terminal or to this process
  double seconds = 0;
};

struct Patience {
  std::chrono::milliseconds after_interrupt{5000}, after_term{2000};
};

// Runs `argv` (no shell; the first word is looked for on the PATH) with the standard descriptors of this
// process and waits for it. It is a process group, and has the terminal while it runs when this process had
// it. SIGINT, SIGTERM or SIGHUP to this process: the group gets SIGINT, later SIGTERM, then SIGKILL; each
// further signal takes the next step at once. What is left of the group when the program has ended is ended,
// too. Blocks; one call at a time, on the only thread.
Result<TerminalRun> run_in_terminal(const std::vector<std::string>& argv, const Patience& patience = {});

}  // namespace profd
