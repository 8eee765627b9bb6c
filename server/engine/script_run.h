// One run of a script over profiles, in a process of its own (profd-script) that is killed when its time is
// over, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "workers/script.h"

namespace profd {

struct ScriptMeans {
  std::string program;                         // profd-script; script_runner_path()
  std::chrono::milliseconds patience{10'000};  // for the whole run
};
// profd-script beside this program, where both are installed and built.
std::string script_runner_path();

struct ScriptInput {
  std::string name;  // for people
  ProfilePtr profile;
};

struct ScriptOutcome {
  // What became of the first profile; null: the script changed nothing of it.
  ProfilePtr profile;
  std::string text;             // what it printed
  std::uint64_t text_left = 0;  // bytes beyond the bound
  std::vector<worker::ScriptTable> tables;
  std::vector<worker::ScriptNote> notes;
  std::uint64_t notes_left = 0;
  std::string error;       // why it did not run to its end; "" it did. Then there is no profile
  std::uint32_t line = 0;  // of the script, where that is known
  std::chrono::nanoseconds took{0};
};

// Waits for it: on a worker. What the script does wrong, by its time and memory too, is in `error`. Fails
// when the process cannot be started or is no process of ours, and with `cancelled`.
Result<ScriptOutcome> run_script(const worker::ScriptRun& script, const std::vector<ScriptInput>& inputs,
                                 const ScriptMeans& means, StopToken stop = {});

}  // namespace profd
