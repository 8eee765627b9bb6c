#include "server/cli/record_words.h"

#include <fmt/format.h>

#include "server/cli/record_drivers.h"
#include "server/engine/typed_line.h"

namespace profd {
namespace {

using Words = std::vector<std::string>;

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

// `dotnet run` and `dotnet test` build and start the program in a process that dotnet-trace does not see.
Result<void> starts_itself(const Words& argv) {
  const bool builds = argv.size() > 1 && (argv[1] == "run" || argv[1] == "test" || argv[1] == "watch");
  if (!builds) return {};
  return fail(ErrorCode::invalid,
              fmt::format("dotnet {} starts the program in another process: build it, and record "
                          "`profd record -- dotnet PROGRAM.dll`",
                          argv[1]));
}

// A string of TOML.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// cargo starts what it has built by a runner, which is the recorder: neither cargo nor the compiler is in
// what is recorded, and each program that is started writes a file of its own, `path`, its process id,
// `ending`.
Words with_runner(const RecordFacts& facts, const Words& recorder, const std::string& path,
                  std::string_view ending, const Words& behind) {
  std::string script = "exec";
  for (const std::string& word : recorder) script += " " + typed_line({word});
  script += fmt::format(" \"$0$${}\"", ending);
  for (const std::string& word : behind) script += " " + typed_line({word});
  script += " \"$@\"";
  const std::string runner = fmt::format("target.\"cfg(all())\".runner=[\"sh\",\"-c\",{},{}]",
                                         toml_string(script), toml_string(path));
  Words words = {"--config", runner};
  if (facts.line_tables)
    words.insert(words.end(), {"--config", "profile.release.debug=\"line-tables-only\""});
  const bool toolchain = facts.argv.size() > 1 && facts.argv[1].starts_with('+');
  return inside(facts.argv, toolchain ? 2 : 1, words);
}

}  // namespace

std::string_view sampler_ending(std::string_view tool) {
  if (tool == "py-spy") return ".speedscope.json";
  if (tool == "austin") return ".austin";
  return tool == "rbspy" ? ".raw.gz" : "";
}

std::vector<std::string> sampler_words(const std::string& program, std::string_view tool,
                                       const std::string& folder, const std::string& pid) {
  if (tool == "py-spy")
    return {program, "record", "--format", "speedscope", "-o", folder + "/cpu.speedscope.json", "--pid", pid};
  // What waits is left out, as py-spy does.
  if (tool == "austin") return {program, "-s", "-i", "1ms", "-o", folder + "/cpu.austin", "-p", pid};
  return {program,    "record",  "--silent", "--raw-file",          folder + "/cpu.raw.gz",
          "--format", "summary", "--file",   folder + "/rbspy.txt", "--pid",
          pid};
}

Result<void> fill_plan(RecordPlan& plan, const RecordFacts& facts, const std::string& folder) {
  const Words& argv = facts.argv;
  if (plan.tool == "go-test") {
    plan.ending = ".pprof";
    plan.argv = inside(argv, 2, {"-cpuprofile=" + folder + "/cpu.pprof", "-o=" + folder + "/go.test"});
  } else if (const std::string_view ending = sampler_ending(plan.tool); !ending.empty()) {
    plan.ending = ending;
    plan.argv = before(facts.let_read, argv);
    plan.beside = sampler_words(plan.program, plan.tool, folder, std::string(kPidWord));
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
  } else if (plan.tool == "dotnet-trace") {
    plan.ending = ".nettrace";
    PROFD_CHECK(starts_itself(argv));
    plan.argv = before({plan.program, "collect", "--format", "NetTrace", "-o", folder + "/cpu.nettrace",
                        "--show-child-io", "--"},
                       argv);
  } else if (plan.tool == "perf") {
    plan.ending = ".data";
    plan.argv = facts.kind == ProgramKind::cargo
                    ? with_runner(facts, {plan.program, "record", "-N", "-o"}, folder + "/perf-", ".data",
                                  {"-F", "499", "--call-graph", "dwarf", "--"})
                    : before({plan.program, "record", "-N", "-o", folder + "/perf.data", "-F", "999",
                              "--call-graph", "fp", "--"},
                             argv);
  } else {
    plan.ending = ".out";
    plan.argv =
        facts.kind == ProgramKind::cargo
            ? with_runner(facts, {plan.program, "--tool=callgrind"},
                          "--callgrind-out-file=" + folder + "/callgrind-", ".out", {})
            : before({plan.program, "--tool=callgrind", "--callgrind-out-file=" + folder + "/callgrind.out"},
                     argv);
  }
  return {};
}

}  // namespace profd
