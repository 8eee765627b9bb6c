#include "server/cli/record_choice.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "server/cli/record_words.h"
#include "server/engine/typed_line.h"

namespace profd {
namespace {

// What a recorder needs and which programs it is for.
struct Recorder {
  std::string_view name;
  std::string_view program;  // that has to be installed; "" comes with the runtime
  std::string_view install;  // the line that installs it
  std::vector<ProgramKind> kinds;
  std::string_view why;
};

const std::vector<Recorder>& all_recorders() {
  using enum ProgramKind;
  // For each kind the better ones first.
  static const std::vector<Recorder> all = {
      {"go-test", "", "", {go_test}, "go test writes a CPU profile itself"},
      {"py-spy",
       "py-spy",
       "pip install py-spy",
       {python},
       "it is installed: it samples all threads and hardly slows the program down"},
      {"austin",
       "austin",
       "pip install austin-dist",
       {python},
       "it is installed: it samples what runs of all threads and hardly slows the program down"},
      {"pyinstrument",
       "pyinstrument",
       "pip install pyinstrument",
       {python},
       "it is installed: it samples the main thread"},
      {"cProfile",
       "",
       "",
       {python},
       "it comes with Python; it counts the calls of the main thread, and functions that are called often "
       "look "
       "dearer than they are (py-spy samples: pip install py-spy)"},
      {"cpu-prof", "", "", {node}, "node samples itself"},
      {"async-profiler",
       "asprof",
       "see github.com/async-profiler/async-profiler",
       {java, java_build},
       "it is installed: it samples all threads, machine code too, and hardly slows the program down"},
      {"jfr", "", "", {java, java_build}, "Java's flight recorder samples, and notes allocations and locks"},
      {"rbspy",
       "rbspy",
       "cargo install rbspy",
       {ruby},
       "it is installed: it samples all threads and hardly slows the program down"},
      {"dotnet-trace",
       "dotnet-trace",
       "dotnet tool install --global dotnet-trace",
       {dotnet},
       "it is installed: it samples all threads of the runtime"},
      {"perf",
       "perf",
       "apt install linux-perf",
       {native, script, cargo},
       "perf may record here: it samples, and hardly slows the program down; callers are followed by frame "
       "pointers"},
      {"callgrind",
       "valgrind",
       "apt install valgrind",
       {native, cargo},
       "the program runs 20 to 50 times slower, and instructions are counted, not time"},
  };
  return all;
}

const Recorder* recorder_named(std::string_view name) {
  const auto& all = all_recorders();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Recorder& r) { return r.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_for(const Recorder& recorder, ProgramKind kind) {
  // perf sees every program, with names of machine code alone.
  return recorder.name == "perf" ||
         std::find(recorder.kinds.begin(), recorder.kinds.end(), kind) != recorder.kinds.end();
}

// Why it cannot be used; "" it can.
std::string hindrance(const Recorder& recorder, const RecordFacts& facts) {
  if (!recorder.program.empty() && !facts.installed.contains(std::string(recorder.program)))
    return fmt::format("{} is not installed ({})", recorder.program, recorder.install);
  if (recorder.name == "perf") return facts.perf_refusal;
  return {};
}

Result<RecordPlan> plan_of(const Recorder& recorder, const RecordFacts& facts, const std::string& folder) {
  RecordPlan plan;
  plan.tool = recorder.name;
  if (!recorder.program.empty()) plan.program = facts.installed.at(std::string(recorder.program));
  plan.why = recorder.why;
  // Rust leaves no frame pointers.
  if (facts.kind == ProgramKind::cargo && recorder.name == "perf")
    plan.why =
        "perf may record here: it samples, and hardly slows the program down; callers are read from copies "
        "of the stack";
  PROFD_CHECK(fill_plan(plan, facts, folder));
  return plan;
}

}  // namespace

std::string_view install_line(std::string_view name) {
  const Recorder* recorder = recorder_named(name);
  return recorder == nullptr ? "" : recorder->install;
}

const std::vector<std::string_view>& recorders() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Recorder& recorder : all_recorders()) out.push_back(recorder.name);
    return out;
  }();
  return names;
}

std::string_view kind_text(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::go_test:
      return "a test of Go";
    case ProgramKind::python:
      return "a program of Python";
    case ProgramKind::node:
      return "a program of Node.js";
    case ProgramKind::node_runner:
      return "a program that starts Node.js itself";
    case ProgramKind::java:
      return "a program of Java";
    case ProgramKind::java_build:
      return "a program that starts Java itself";
    case ProgramKind::ruby:
      return "a program of Ruby";
    case ProgramKind::dotnet:
      return "a program of .NET";
    case ProgramKind::cargo:
      return "what cargo builds and runs";
    case ProgramKind::native:
      return "a program of machine code";
    case ProgramKind::script:
      return "a script";
  }
  return "";
}

std::vector<std::string_view> programs_to_look_for(ProgramKind kind, std::string_view with) {
  std::vector<std::string_view> out;
  for (const Recorder& recorder : all_recorders()) {
    if (recorder.program.empty()) continue;
    const bool own = std::find(recorder.kinds.begin(), recorder.kinds.end(), kind) != recorder.kinds.end();
    if (with.empty() ? own : recorder.name == with) out.push_back(recorder.program);
  }
  return out;
}

Result<RecordPlan> choose_recorder(const RecordFacts& facts, std::string_view with,
                                   const std::string& folder) {
  if (!with.empty()) {
    const Recorder* recorder = recorder_named(with);
    if (recorder == nullptr) return fail(ErrorCode::invalid, fmt::format("there is no recorder {}", with));
    if (!is_for(*recorder, facts.kind))
      return fail(ErrorCode::invalid, fmt::format("{} does not record {}, which {} is", with,
                                                  kind_text(facts.kind), facts.argv.front()));
    if (const std::string why_not = hindrance(*recorder, facts); !why_not.empty())
      return fail(ErrorCode::invalid, why_not);
    PROFD_TRY(RecordPlan plan, plan_of(*recorder, facts, folder));
    plan.why = "you named it";
    if (with == "callgrind") plan.why += fmt::format("; {}", recorder->why);
    return plan;
  }
  if (facts.kind == ProgramKind::node_runner)
    return fail(ErrorCode::invalid,
                fmt::format("{} starts Node.js itself, which takes no profiler from outside: record what it "
                            "runs, `profd record -- node SCRIPT`",
                            facts.argv.front()));
  std::string hindrances;
  std::optional<Error> refused;
  for (const Recorder& recorder : all_recorders()) {
    if (std::find(recorder.kinds.begin(), recorder.kinds.end(), facts.kind) == recorder.kinds.end()) continue;
    if (const std::string why_not = hindrance(recorder, facts); !why_not.empty()) {
      hindrances += (hindrances.empty() ? "" : "; ") + why_not;
      continue;
    }
    auto plan = plan_of(recorder, facts, folder);
    if (!plan) {
      refused = plan.error();
      continue;
    }
    // What the slow one is taken instead of.
    if (recorder.name == "callgrind") plan->why = hindrances + "; " + plan->why;
    return plan;
  }
  if (refused) return tl::unexpected<Error>(std::move(*refused));
  return fail(ErrorCode::invalid, fmt::format("nothing here may record {}, {}: {}", facts.argv.front(),
                                              kind_text(facts.kind), hindrances));
}

std::string plan_line(const RecordPlan& plan) {
  std::string out = typed_line(plan.argv);
  if (plan.beside.empty()) return out;
  out += " &";
  for (const std::string& word : plan.beside) out += word == kPidWord ? " $!" : " " + typed_line({word});
  return out;
}

std::string perf_refusal_text(std::string_view paranoid, std::string_view errors) {
  const std::string state =
      paranoid.empty() ? "" : fmt::format(" (kernel.perf_event_paranoid is {})", paranoid);
  const bool refused = errors.find("ermission") != errors.npos ||
                       errors.find("not permitted") != errors.npos ||
                       errors.find("No permission") != errors.npos ||
                       errors.find("Access to performance monitoring") != errors.npos;
  if (refused && !paranoid.empty() && paranoid != "-1" && paranoid != "0" && paranoid != "1")
    return fmt::format("perf may not record{}: sudo sysctl kernel.perf_event_paranoid=1", state);
  if (refused)
    return fmt::format(
        "perf may not record{}: in a container it takes --cap-add PERFMON and a seccomp profile that lets "
        "perf_event_open through",
        state);
  if (errors.find("perf_event_max_sample_rate") != errors.npos)
    return "perf may not sample 999 times a second: sudo sysctl kernel.perf_event_max_sample_rate=10000";
  const std::string_view first = errors.substr(0, errors.find('\n'));
  return fmt::format("perf cannot record{}: {}", state, first.empty() ? "it does not say why" : first);
}

}  // namespace profd
