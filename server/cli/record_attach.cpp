#include "server/cli/record_attach.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "server/cli/progress_line.h"
#include "server/cli/record_end.h"
#include "server/cli/record_facts.h"
#include "server/cli/record_meta.h"
#include "server/cli/record_run.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/recordings.h"
#include "server/engine/typed_line.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"
#include "server/platform/run.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCommandLine = std::size_t{1} << 20;
constexpr std::uint64_t kMostFetched = std::uint64_t{1} << 30;
constexpr unsigned kFetchSeconds = 30;  // what Go takes where nobody says
constexpr std::string_view kFetchTool = "pprof";

bool is_address(std::string_view to) {
  return to.find("://") != to.npos;
}

std::vector<std::string> command_line_of(const std::string& pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text(kMostCommandLine, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Result<AttachFacts> facts_of_process(const AttachOptions& options) {
  AttachFacts out;
  out.pid = options.to;
  const bool number = !out.pid.empty() && out.pid.size() < 10 &&
                      out.pid.find_first_not_of("0123456789") == out.pid.npos && out.pid.front() != '0';
  if (!number)
    return fail(ErrorCode::invalid,
                fmt::format("--attach takes a process id or http://HOST:PORT, which {} is not", out.pid));
  std::error_code error;
  if (!fs::exists("/proc/" + out.pid, error))
    return fail(ErrorCode::not_found, fmt::format("there is no process {}", out.pid));
  const fs::path program = fs::read_symlink("/proc/" + out.pid + "/exe", error);
  if (error)
    return fail(ErrorCode::invalid,
                fmt::format("process {} is another user's: it can be recorded as that user", out.pid));
  out.argv = command_line_of(out.pid);
  if (out.argv.empty()) out.argv = {program.string()};
  if (!options.expect.empty() && out.argv != options.expect)
    return fail(ErrorCode::invalid,
                fmt::format("process {} is another program now: {}", out.pid, typed_line(out.argv)));
  out.kind = kind_of({program.string()}, true, "");
  out.installed = installed_of({"perf", "py-spy", "austin", "rbspy", "dotnet-trace", "jcmd", "asprof"});
  const auto perf = out.installed.find("perf");
  const bool asks_perf = options.with.empty() ? out.kind == ProgramKind::native : options.with == "perf";
  if (asks_perf && perf != out.installed.end()) out.perf_refusal = perf_refusal(perf->second);
  return out;
}

Result<RecordPlan> planned(const AttachFacts& facts, std::string_view tool, std::string_view program,
                           std::string_view install) {
  const auto found = facts.installed.find(std::string(program));
  if (found == facts.installed.end())
    return fail(ErrorCode::invalid, fmt::format("{} is not installed ({})", program, install));
  RecordPlan plan;
  plan.tool = tool;
  plan.program = found->second;
  return plan;
}

RecordingMeta meta_of_attached(const AttachOptions& options, std::vector<std::string> argv,
                               std::string_view tool) {
  RecordingMeta meta;
  std::error_code error;
  meta.argv = std::move(argv);
  meta.cwd = fs::current_path(error).string();
  meta.tool = tool;
  meta.attached = options.to;
  return meta;
}

// Has a profiler in a program start or stop. jcmd has a sentence instead of an exit code.
Result<void> run_control(const std::vector<std::string>& argv, std::string_view sentence) {
  RunRequest request;
  request.argv = argv;
  request.timeout = std::chrono::seconds(60);
  PROFD_TRY(const RunAnswer answer, run_program(request, StopToken{}));
  if (answer.exit_code == 0 && answer.output.find(sentence) != answer.output.npos) return {};
  const std::string said = answer.errors.empty() ? answer.output : answer.errors;
  return fail(ErrorCode::io, fmt::format("{}: {}", fs::path(argv.front()).filename().string(),
                                         said.substr(0, said.find_last_not_of(" \n") + 1)));
}

std::string so_far_text(const std::string& what, double seconds) {
  return fmt::format("{}, {} so far; Ctrl-C ends it", what,
                     format_duration_ns(static_cast<std::int64_t>(seconds * 1e9)));
}

// Gives the time that it took, in seconds.
Result<double> sample_process(const AttachFacts& facts, const RecordPlan& plan,
                              const std::optional<unsigned>& seconds, const Console& console) {
  ProgressLine line(console, "process " + facts.pid, "Recording");
  const auto tick = [&](double so_far) { line.update(so_far_text(plan.tool, so_far)); };
  const std::optional<double> time = seconds ? std::optional<double>(*seconds) : std::nullopt;
  if (plan.beside.empty()) {
    PROFD_TRY(const TerminalRun ran, run_in_terminal(plan.argv, {{}, nullptr, tick}));
    return ran.seconds;
  }
  const bool jcmd = plan.tool == "jfr";
  PROFD_CHECK(run_control(plan.argv, jcmd ? "Started recording" : ""));
  const double took = wait_in_terminal(static_cast<pid_t>(std::stol(facts.pid)), time, tick);
  // A program that has ended wrote its recording as it did.
  std::error_code error;
  if (fs::exists("/proc/" + facts.pid, error))
    PROFD_CHECK(run_control(plan.beside, jcmd ? "Stopped recording" : ""));
  return took;
}

int record_process(const AttachOptions& options, const Console& console) {
  const auto facts = facts_of_process(options);
  if (!facts) return console.fail(facts.error().message);
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  const std::string name = recording_name(now / 1'000'000'000, facts->argv.front());
  auto plan = choose_attached(*facts, options.with, options.place + "/" + name, options.seconds);
  if (!plan) return console.fail(plan.error().message);
  console.note(fmt::format("{}, as {}", plan->tool, plan->why));
  if (options.dry_run) return console.print(typed_line(plan->argv) + "\n");
  const auto folder = make_recording(options.place, name);
  if (!folder) return console.fail(folder.error().message);
  plan = choose_attached(*facts, options.with, *folder, options.seconds);
  if (!plan) return console.fail(plan.error().message);
  EndedRecording ended{*plan, options.place, *folder, meta_of_attached(options, facts->argv, plan->tool)};
  ended.meta.started = format_time_utc(now);
  add_surroundings(ended.meta);
  const auto took = sample_process(*facts, *plan, options.seconds, console);
  if (!took) {
    std::error_code error;
    fs::remove_all(*folder, error);
    return console.fail(describe(took.error()));
  }
  ended.meta.duration_s = *took;
  return end_recording(std::move(ended), console);
}

// What Go serves, where only the program is named.
std::string profile_address(const AttachOptions& options) {
  const std::size_t path = options.to.find('/', options.to.find("://") + 3);
  if (path != options.to.npos && path + 1 < options.to.size()) return options.to;
  return fmt::format("{}/debug/pprof/profile?seconds={}", options.to.substr(0, path),
                     options.seconds.value_or(kFetchSeconds));
}

int record_address(const AttachOptions& options, const Console& console) {
  const std::string address = profile_address(options);
  const auto endpoint = parse_endpoint(address);
  if (!endpoint) return console.fail(endpoint.error().message);
  if (!options.with.empty() && options.with != kFetchTool)
    return console.fail(
        fmt::format("{} does not record at an address: the program does, and is asked for it", options.with));
  console.note(fmt::format("{}, as the program serves its profiles at {}", kFetchTool, endpoint->name));
  if (options.dry_run) return console.print(typed_line({"curl", "-o", "cpu.pprof", endpoint->uri}) + "\n");
  const auto begin = std::chrono::system_clock::now();
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(begin.time_since_epoch()).count();
  ProgressLine line(console, endpoint->name, "Recording");
  auto fetched =
      fetch_endpoint(*endpoint, kMostFetched, StopToken{}, [&](std::uint64_t done, std::uint64_t total) {
        const std::string text = recording_text(*endpoint, done, total);
        line.update(text.empty() ? format_bytes(done) : text);
      });
  if (!fetched) return console.fail(describe(fetched.error()));
  const auto folder = make_recording(options.place, recording_name(now / 1'000'000'000, endpoint->name));
  if (!folder) return console.fail(folder.error().message);
  RecordPlan plan;
  plan.tool = kFetchTool;
  plan.ending = ".pprof";
  const std::span<const std::byte> bytes = fetched->file.bytes();
  if (const auto put =
          put_file(*folder + "/profile.pprof", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      !put)
    return console.fail(describe(put.error()));
  EndedRecording ended{plan, options.place, *folder, meta_of_attached(options, {address}, kFetchTool)};
  ended.meta.started = format_time_utc(now);
  add_surroundings(ended.meta);
  ended.meta.duration_s = std::chrono::duration<double>(std::chrono::system_clock::now() - begin).count();
  return end_recording(std::move(ended), console);
}

}  // namespace

Result<RecordPlan> choose_attached(const AttachFacts& facts, std::string_view with, const std::string& folder,
                                   const std::optional<unsigned>& seconds) {
  const std::string time = seconds ? std::to_string(*seconds) : "";
  std::string tool(with);
  if (tool.empty()) {
    if (facts.kind == ProgramKind::node)
      return fail(ErrorCode::invalid,
                  fmt::format("process {} is Node.js, which takes no profiler while it runs: start it with "
                              "`profd record -- node SCRIPT`, or --with perf sees its machine code",
                              facts.pid));
    const bool austin = !facts.installed.contains("py-spy") && facts.installed.contains("austin");
    tool = facts.kind == ProgramKind::python    ? (austin ? "austin" : "py-spy")
           : facts.kind == ProgramKind::ruby    ? "rbspy"
           : facts.kind == ProgramKind::dotnet  ? "dotnet-trace"
           : facts.kind != ProgramKind::java    ? "perf"
           : facts.installed.contains("asprof") ? "async-profiler"
                                                : "jfr";
  }
  const std::string_view reason = with.empty() ? "" : "you named it";
  const auto why = [&](std::string_view otherwise) { return std::string(with.empty() ? otherwise : reason); };
  if (tool == "perf") {
    PROFD_TRY(RecordPlan plan, planned(facts, tool, "perf", "apt install linux-perf"));
    if (!facts.perf_refusal.empty()) return fail(ErrorCode::invalid, facts.perf_refusal);
    plan.why = why("perf may record here; callers are followed by frame pointers");
    plan.ending = ".data";
    plan.argv = {plan.program,   "record", "-N", "-o",     folder + "/perf.data", "-F", "999",
                 "--call-graph", "fp",     "-p", facts.pid};
    if (seconds) plan.argv.insert(plan.argv.end(), {"--", "sleep", time});
    return plan;
  }
  const bool fits = facts.kind == ProgramKind::ruby ? tool == "rbspy"
                                                    : facts.kind == ProgramKind::python && tool != "rbspy";
  if (const std::string_view ending = sampler_ending(tool); fits && !ending.empty()) {
    PROFD_TRY(RecordPlan plan, planned(facts, tool, tool, install_line(tool)));
    plan.why =
        why(tool == "rbspy" ? "it is installed: it reads the memory of the process"
                            : "it is installed: it reads the memory of the process and does not stop it");
    plan.ending = ending;
    plan.argv = sampler_words(plan.program, tool, folder, facts.pid);
    if (seconds) plan.argv.insert(plan.argv.end(), {tool == "austin" ? "-x" : "--duration", time});
    return plan;
  }
  if (tool == "dotnet-trace" && facts.kind == ProgramKind::dotnet) {
    PROFD_TRY(RecordPlan plan, planned(facts, tool, tool, install_line(tool)));
    plan.why = why("it is installed: it samples all threads of the runtime");
    plan.ending = ".nettrace";
    plan.argv = {plan.program, "collect", "--format", "NetTrace", "-o", folder + "/cpu.nettrace",
                 "-p",         facts.pid};
    if (seconds)
      plan.argv.insert(plan.argv.end(), {"--duration", fmt::format("00:{:02}:{:02}:{:02}", *seconds / 3600,
                                                                   *seconds / 60 % 60, *seconds % 60)});
    return plan;
  }
  if (tool == "async-profiler" && facts.kind == ProgramKind::java) {
    PROFD_TRY(RecordPlan plan,
              planned(facts, tool, "asprof", "see github.com/async-profiler/async-profiler"));
    plan.why = why("it is installed: it samples all threads, machine code too");
    plan.ending = ".jfr";
    const std::string file = folder + "/cpu.jfr";
    plan.argv = {plan.program, "start", "-e", "cpu", "-i", "1ms", "-o", "jfr", "-f", file, facts.pid};
    plan.beside = {plan.program, "stop", "-o", "jfr", "-f", file, facts.pid};
    return plan;
  }
  if (tool == "jfr" && facts.kind == ProgramKind::java) {
    PROFD_TRY(RecordPlan plan, planned(facts, tool, "jcmd", "it comes with a JDK"));
    // Words of jcmd are one line to the program, in which a quote cannot be quoted.
    if (folder.find('"') != folder.npos)
      return fail(ErrorCode::invalid, "the flight recorder cannot write into a folder with a \" in its name");
    plan.why = why("Java's flight recorder can be started while the program runs");
    plan.ending = ".jfr";
    const std::string name = "name=profd-" + std::to_string(::getpid());
    plan.argv = {plan.program,       facts.pid,
                 "JFR.start",        name,
                 "settings=profile", "filename=\"" + folder + "/cpu.jfr\"",
                 "dumponexit=true"};
    plan.beside = {plan.program, facts.pid, "JFR.stop", name};
    return plan;
  }
  return fail(ErrorCode::invalid, fmt::format("{} does not attach to {}, which process {} is", tool,
                                              kind_text(facts.kind), facts.pid));
}

int record_attached(const AttachOptions& options, const Console& console) {
  return is_address(options.to) ? record_address(options, console) : record_process(options, console);
}

}  // namespace profd
