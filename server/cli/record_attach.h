// Recording what runs already: a process, or what a program serves at an address.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/console.h"
#include "server/cli/record_choice.h"

namespace profd {

struct AttachFacts {
  std::string pid;
  std::vector<std::string> argv;  // of the process
  ProgramKind kind = ProgramKind::native;
  std::map<std::string, std::string> installed;  // as in RecordFacts
  std::string perf_refusal;
};
// The plan for `folder`; `seconds`: for how long. The flight recorder's first words are in `argv`, those that
// stop it in `beside`. Pure. Errors say the cause and the next step.
Result<RecordPlan> choose_attached(const AttachFacts& facts, std::string_view with, const std::string& folder,
                                   const std::optional<unsigned>& seconds);

struct AttachOptions {
  std::string to;  // a process id, or http://HOST:PORT with or without a path
  std::string with;
  std::optional<unsigned> seconds;
  bool dry_run = false;
  std::string place;                // of the recordings
  std::vector<std::string> expect;  // what the process is to be; empty: anything
};
// Until it is interrupted, the time is over or the process has ended. Gives the exit code.
int record_attached(const AttachOptions& options, const Console& console);

}  // namespace profd
