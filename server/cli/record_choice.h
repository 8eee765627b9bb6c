// Which profiler records a command, and how it is called. Pure functions of what is known of the machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/result.h"

namespace profd {

enum class ProgramKind {
  go_test,
  python,
  node,
  node_runner,  // npm and the like, which start node themselves
  java,
  java_build,  // Maven and the like, which start Java themselves
  ruby,
  dotnet,
  cargo,   // what it builds and starts: `cargo run`, `cargo test`, `cargo bench`
  native,  // an ELF file
  script,  // of a shell, or of something else that is not known here
};

struct RecordFacts {
  std::vector<std::string> argv;  // as typed, or with the interpreter that a script's first line names
  ProgramKind kind = ProgramKind::native;
  std::map<std::string, std::string> installed;  // programs of profilers that are there, with their paths
  std::string perf_refusal;                      // why perf may not record, and what helps; "" it may
  std::string java_options;                      // JAVA_TOOL_OPTIONS as it is set now
  bool line_tables = false;                      // cargo is to build a release with them, which it would not
  // A process may be read by those that started it alone, unless it lets others (kernel.yama.ptrace_scope 1):
  // the words before a command that let it. Empty: nothing is needed for that.
  std::vector<std::string> let_read;
};

// Among `installed` beside asprof: the library that Java takes as an agent.
inline constexpr std::string_view kAsyncProfilerAgent = "libasyncProfiler.so";

// In the words of a sampler: the id of the process that it is attached to.
inline constexpr std::string_view kPidWord = "{pid}";

struct RecordPlan {
  std::string tool;                 // as --with calls it
  std::string program;              // the file of `installed` that says its version; "" the command's own
  std::vector<std::string> argv;    // what is run
  std::vector<std::string> beside;  // a sampler that is attached to that; empty: it records itself
  std::string why;                  // one line for a person
  std::string ending;               // what the profile's name in the folder ends with
  std::vector<std::pair<std::string, std::string>> files;  // to be in the folder before: name, text
};

// What --with takes, in the order of the help.
const std::vector<std::string_view>& recorders();

// What the kind of program is in a sentence.
std::string_view kind_text(ProgramKind kind);

// Which programs have to be looked for (`installed`) before choosing; perf is tried only when it is among
// them.
std::vector<std::string_view> programs_to_look_for(ProgramKind kind, std::string_view with);

// Of a sampler that is attached to a process: what its profile's name ends with ("": it is none of those),
// and its words for the process `pid`.
std::string_view sampler_ending(std::string_view tool);
std::vector<std::string> sampler_words(const std::string& program, std::string_view tool,
                                       const std::string& folder, const std::string& pid);

// The line that installs the recorder's program; "" comes with the runtime.
std::string_view install_line(std::string_view recorder);

// One line for a shell that does what the plan does.
std::string plan_line(const RecordPlan& plan);

// The plan for `folder`, an absolute path. `with`: the recorder that a person names, or "". Errors say the
// cause and the next step.
Result<RecordPlan> choose_recorder(const RecordFacts& facts, std::string_view with,
                                   const std::string& folder);

// Why `perf record` failed, as a sentence with what helps. `paranoid` is what kernel.perf_event_paranoid is,
// or "" when that is not known; `errors` what perf said.
std::string perf_refusal_text(std::string_view paranoid, std::string_view errors);

}  // namespace profd
