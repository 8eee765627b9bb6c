#include "server/cli/record_choice.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "server/cli/record_drivers.h"
#include "server/engine/typed_line.h"

namespace profd {
namespace {

using Words = std::vector<std::string>;

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
      {"perf",
       "perf",
       "apt install linux-perf",
       {native, script},
       "perf may record here: it samples, and hardly slows the program down; callers are followed by frame "
       "pointers"},
      {"callgrind",
       "valgrind",
       "apt install valgrind",
       {native},
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

// Where the interpreter's own options end; the first of -m, -c or a script. The end when there is none.
std::size_t python_program_at(const Words& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.size() < 2 || word[0] != '-') return word == "-" ? argv.size() : i;
    if (word.starts_with("-m") || word.starts_with("-c")) return i;
    if (word == "-W" || word == "-X" || word == "--check-hash-based-pycs") ++i;
  }
  return argv.size();
}

Result<Words> with_cprofile(const Words& argv, const std::string& folder) {
  const std::size_t at = python_program_at(argv);
  if (at == argv.size() || ((argv[at] == "-m" || argv[at] == "-c") && at + 1 == argv.size()))
    return fail(ErrorCode::invalid,
                "cProfile records a script, -m MODULE or -c CODE, and the command has none");
  Words out(argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(at));
  out.push_back(folder + "/profile.py");
  out.push_back(folder + "/cpu.pstats");
  // -mMODULE in one word.
  if (argv[at][0] == '-' && argv[at].size() > 2) {
    out.push_back(argv[at].substr(0, 2));
    out.push_back(argv[at].substr(2));
  } else {
    out.push_back(argv[at]);
  }
  out.insert(out.end(), argv.begin() + static_cast<std::ptrdiff_t>(at) + 1, argv.end());
  return out;
}

Result<Words> with_pyinstrument(const Words& argv, const std::string& program, const std::string& folder) {
  const std::size_t at = python_program_at(argv);
  if (at != 1 || at == argv.size() || argv[at].starts_with("-c"))
    return fail(ErrorCode::invalid,
                "pyinstrument records a script or -m MODULE, without options of Python before it");
  Words out = {program, "-r", "json", "-o", folder + "/cpu.pyinstrument.json"};
  out.insert(out.end(), argv.begin() + 1, argv.end());
  return out;
}

Words before(Words words, const Words& argv) {
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

// After the first `n` words.
Words inside(const Words& argv, std::size_t n, const Words& words) {
  Words out = argv;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(n), words.begin(), words.end());
  return out;
}

// The command with `options` for the Java that it is, or that it starts; `more`: as they are.
Words with_java_options(const RecordFacts& facts, const std::string& options, const std::string& more) {
  if (facts.kind == ProgramKind::java) {
    Words words = {options};
    if (!more.empty()) words.push_back(more);
    return inside(facts.argv, 1, words);
  }
  std::string all = facts.java_options + (facts.java_options.empty() ? "" : " ");
  all += options.find_first_of(" \t'\"") == options.npos ? options : "\"" + options + "\"";
  return before({"env", "JAVA_TOOL_OPTIONS=" + all + (more.empty() ? "" : " " + more)}, facts.argv);
}

std::string flight_recorder(const std::string& folder) {
  return "-XX:StartFlightRecording=filename=" + folder + "/,dumponexit=true,settings=profile";
}

// Options of Java's profilers are separated by commas, and have no way to quote one.
Result<void> without_commas(const std::string& folder, std::string_view who) {
  if (folder.find(',') == folder.npos) return {};
  return fail(ErrorCode::invalid, fmt::format("{} cannot write into a folder with a comma in its name", who));
}

Result<void> fill(RecordPlan& plan, const RecordFacts& facts, const std::string& folder) {
  const Words& argv = facts.argv;
  if (plan.tool == "go-test") {
    plan.ending = ".pprof";
    plan.argv = inside(argv, 2, {"-cpuprofile=" + folder + "/cpu.pprof", "-o=" + folder + "/go.test"});
  } else if (plan.tool == "py-spy") {
    plan.ending = ".speedscope.json";
    plan.argv = before(facts.let_read, argv);
    plan.beside = {plan.program, "record",
                   "--format",   "speedscope",
                   "-o",         folder + "/cpu.speedscope.json",
                   "--pid",      std::string(kPidWord)};
  } else if (plan.tool == "pyinstrument") {
    plan.ending = ".pyinstrument.json";
    PROFD_TRY(plan.argv, with_pyinstrument(argv, plan.program, folder));
  } else if (plan.tool == "cProfile") {
    plan.ending = ".pstats";
    plan.files.emplace_back("profile.py", kPythonDriver);
    PROFD_TRY(plan.argv, with_cprofile(argv, folder));
  } else if (plan.tool == "cpu-prof") {
    plan.ending = ".cpuprofile";
    plan.files.emplace_back("end.cjs", kNodeDriver);
    plan.argv =
        inside(argv, 1, {"--cpu-prof", "--cpu-prof-dir=" + folder, "--require=" + folder + "/end.cjs"});
  } else if (plan.tool == "jfr") {
    plan.ending = ".jfr";
    PROFD_CHECK(without_commas(folder, "the flight recorder"));
    // It would speak on the program's output.
    plan.argv = with_java_options(facts, flight_recorder(folder), "-Xlog:jfr+startup=error");
  } else if (plan.tool == "async-profiler") {
    plan.ending = ".jfr";
    PROFD_CHECK(without_commas(folder, "async-profiler"));
    // Where the processor's counters are refused it takes timers of processor time by itself.
    plan.argv =
        with_java_options(facts,
                          fmt::format("-agentpath:{}=start,event=cpu,interval=1ms,jfr,loglevel=error,file={}/"
                                      "cpu-%p.jfr",
                                      facts.installed.at(std::string(kAsyncProfilerAgent)), folder),
                          "");
  } else if (plan.tool == "perf") {
    plan.ending = ".data";
    plan.argv = before(
        {plan.program, "record", "-o", folder + "/perf.data", "-F", "999", "--call-graph", "fp", "--"}, argv);
  } else {
    plan.ending = ".out";
    plan.argv =
        before({plan.program, "--tool=callgrind", "--callgrind-out-file=" + folder + "/callgrind.out"}, argv);
  }
  return {};
}

Result<RecordPlan> plan_of(const Recorder& recorder, const RecordFacts& facts, const std::string& folder) {
  RecordPlan plan;
  plan.tool = recorder.name;
  if (!recorder.program.empty()) plan.program = facts.installed.at(std::string(recorder.program));
  plan.why = recorder.why;
  PROFD_CHECK(fill(plan, facts, folder));
  return plan;
}

}  // namespace

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
