#include "server/cli/record_failure.h"

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {
namespace {

// What keeps a recorder from seeing a program that ran long enough.
std::string_view likely_cause(std::string_view tool) {
  if (tool == "perf")
    return "events are refused to this user or container: `perf record -- true` says more, and --with "
           "callgrind needs no permission";
  if (tool == "rbspy")
    return "it may not read the program's memory (kernel.yama.ptrace_scope, or a container without --cap-add "
           "SYS_PTRACE), or knows this version of Ruby not yet";
  if (tool == "dotnet-trace") return "the program waited all the time, or is of .NET before 3";
  if (tool == "py-spy" || tool == "austin")
    return "it may not read the program's memory (kernel.yama.ptrace_scope, or a container without --cap-add "
           "SYS_PTRACE): --with cProfile needs no permission";
  if (tool == "go-test") return "no benchmark or test ran: name some with -bench or -run";
  if (tool == "jfr" || tool == "async-profiler")
    return "the program waited all the time, or another one did the work";
  return "the program did nothing that it counts";
}

}  // namespace

std::string no_profile_text(const RecordEnd& end) {
  std::string out = fmt::format("{} wrote no profile", end.tool);
  if (end.tool == "go-test")
    return out + ": go test does when the package builds, and of one package at a time; name one";
  if (end.tool == "cpu-prof")
    return out +
           ": node does when it ends by itself; a program that is killed, or handles SIGINT and goes on, has "
           "none";
  if (end.tool == "async-profiler")
    return out + ": no Java of version 8 or newer ended in an orderly way; one that is killed writes none";
  if (end.tool == "jfr")
    return out + ": no Java of version 11 or newer ended in an orderly way; one that is killed writes none";
  const bool reads = end.tool == "py-spy" || end.tool == "austin" || end.tool == "rbspy";
  if (end.tool == "perf" || reads) return fmt::format("{}: {}", out, likely_cause(end.tool));
  if (end.interrupted) return out + ": it was killed before it could";
  return out + "; what it says is above";
}

std::string no_samples_text(const RecordEnd& end) {
  const std::string took = format_duration_ns(static_cast<std::int64_t>(end.seconds * 1e9));
  // At 100 samples a second, the rarest of them, ten are the least that say anything.
  if (end.seconds < 0.1)
    return fmt::format("{} took no sample: the program ended after {}; let it do more, or repeat it",
                       end.tool, took);
  return fmt::format("{} took no sample in {}: {}", end.tool, took, likely_cause(end.tool));
}

}  // namespace profd
