#include "server/feature/missing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/source/annotations.h"
#include "core/support/checked.h"
#include "server/feature/code_language.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kNKinds = 3;
constexpr double kWorthSaying = 0.001;

bool is_code(FrameKind kind) {
  return kind == FrameKind::native || kind == FrameKind::jit || kind == FrameKind::interpreted ||
         kind == FrameKind::kernel;
}

constexpr std::uint8_t kFileless = 8;  // lacks lines of a file, but has a line

// By frame, a bit for each kind that it lacks. A file is looked up once.
std::vector<std::uint8_t> lacks(const Profile& profile, const SourceMap* sources) {
  enum : std::uint8_t { kUnasked, kHere, kElsewhere };
  std::vector<std::uint8_t> place(sources != nullptr ? profile.strings().size() : 0, kUnasked);
  const FrameTable& frames = profile.frames();
  std::vector<std::uint8_t> flags(frames.size(), 0);
  for (std::size_t f = 0; f < flags.size(); ++f) {
    if (!is_code(frames.kind[f])) continue;
    const StringId file = file_of_frame(profile, f);
    const bool unlined = frames.line[f] == 0 || file.v == 0;
    if (frames.line[f] != 0 && file.v == 0) flags[f] |= kFileless;
    unsigned bits = profile.functions().unresolved[frames.function[f].v] != 0 ? 1 : 0;
    if (unlined) bits |= 2;
    if (!unlined && sources != nullptr) {
      std::uint8_t& known = place[file.v];
      if (known == kUnasked)
        known = sources->file_of(profile.strings()[file]) != nullptr ? kHere : kElsewhere;
      if (known == kElsewhere) bits |= 4;
    }
    flags[f] = static_cast<std::uint8_t>(flags[f] | bits);
  }
  return flags;
}

struct MissingSums {
  std::array<Value, kNKinds> amount;
  std::array<std::array<double, kNFrameKinds>, kNKinds> by_kind{};  // magnitudes
  double fileless = 0;
};

template <class T>
Result<MissingSums> sum(const Selection& selection, const Column<T>& values, const SourceMap* sources,
                        StopToken& stop) {
  const Profile& profile = *selection.profile;
  const std::vector<std::uint8_t> flags = lacks(profile, sources);
  MissingSums sums;
  std::array<T, kNKinds> amounts{};
  for (std::size_t row = 0; row < selection.rows->self.contexts.size(); ++row) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t context = selection.boxes->owner_of(selection.rows->self.contexts[row]);
    if (context == 0) continue;
    const std::uint32_t frame = profile.tree().frame[context];
    if (flags[frame] == 0) continue;
    const auto kind = static_cast<std::size_t>(profile.frames().kind[frame]);
    if ((flags[frame] & kFileless) != 0) sums.fileless += std::fabs(static_cast<double>(values[row]));
    for (std::size_t i = 0; i < kNKinds; ++i) {
      if ((flags[frame] >> i & 1) == 0) continue;
      add_saturating(amounts[i], values[row]);
      sums.by_kind[i][kind] += std::fabs(static_cast<double>(values[row]));
    }
  }
  for (std::size_t i = 0; i < kNKinds; ++i) sums.amount[i] = Value(amounts[i]);
  return sums;
}

// perf writes addresses; names were looked for when it was opened.
constexpr const char* kPerfSymbols =
    "Names are looked for in the binaries that ran: `profd symbolize FILE` says which are missing, and what "
    "to do.";
// Without the whole path a file of the workspace is only guessed by its name.
constexpr const char* kPerfLines =
    "`perf script -F +srcline --full-source-path` on the machine that recorded writes lines, for binaries "
    "compiled with -g.";

bool is_from_perf(const Profile& profile) {
  return profile.info().format == "perf-data" || profile.info().format == "perf-script";
}

// Whether most code without a line is no source code: functions of a runtime or its libraries, of which the
// profile says no file, while others have lines.
bool is_built_in(const Profile& profile) {
  const FrameTable& frames = profile.frames();
  std::size_t n_lines = 0, n_files = 0, n_nowhere = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!is_code(frames.kind[f])) continue;
    if (frames.line[f] != 0)
      ++n_lines;
    else
      ++(file_of_frame(profile, f).v != 0 ? n_files : n_nowhere);
  }
  return n_lines > n_files && n_nowhere > n_files;
}

std::string symbols_advice(const Profile& profile, FrameKind kind) {
  const CodeLanguage language = language_of(profile);
  if (kind == FrameKind::kernel)
    return "Recording as root, or with kernel.kptr_restrict=0, brings the names of the kernel.";
  if (is_from_perf(profile) && profile.info().format == "perf-data" && kind == FrameKind::native)
    return kPerfSymbols;
  if (profile.info().format == "scalene")
    return "Newer versions of Scalene write which function a line is in; code outside functions, and "
           "libraries "
           "written in C, have no names there.";
  if (kind == FrameKind::interpreted)
    return "The profiler wrote no names for this code; a newer version of it, or another export, may.";
  if (kind == FrameKind::jit)
    return language == CodeLanguage::jvm
               ? "-XX:+DumpPerfMapAtExit, or a profiler of Java such as async-profiler, brings the names of "
                 "compiled methods."
           : language == CodeLanguage::javascript
               ? "`node --perf-basic-prof` brings the names of compiled functions."
           : language == CodeLanguage::dotnet
               ? "DOTNET_PerfMapEnabled=1 brings the names of compiled methods."
           : language == CodeLanguage::python
               ? "`python -X perf` (3.12 or newer) brings the names of Python's functions."
               : "A map of compiled code brings its names: perf-PID.map or a jitdump file, as the runtime "
                 "writes "
                 "them when asked to.";
  if (language == CodeLanguage::go)
    return "`go tool pprof -proto BINARY PROFILE` with the binary that was measured brings names.";
  return "Binaries that are not stripped, or their debug files, bring names when they are there while the "
         "profile is written.";
}

FrameKind most(const std::array<double, kNFrameKinds>& by_kind) {
  std::size_t best = 0;
  for (std::size_t kind = 1; kind < kNFrameKinds; ++kind)
    if (by_kind[kind] > by_kind[best]) best = kind;
  return static_cast<FrameKind>(best);
}

}  // namespace

std::string_view missing_name(MissingKind kind) {
  constexpr std::array<std::string_view, kNKinds> kNames = {"symbols", "lines", "sources"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string lines_advice(const Profile& profile, FrameKind kind) {
  if (profile.composition() != nullptr)
    return "Profiles that are put together have no lines; each of them by itself may.";
  if (kind == FrameKind::kernel)
    return "The kernel's debug information (vmlinux) brings lines, where the profiler can write them.";
  if (is_from_perf(profile) && kind == FrameKind::native) return kPerfLines;
  const bool built_in = is_built_in(profile);
  switch (language_of(profile)) {
    case CodeLanguage::python:
      return built_in ? "Functions that are built in or written in C have no lines of Python."
                      : "py-spy writes the lines that ran: `py-spy record --format speedscope`.";
    case CodeLanguage::ruby:
      return built_in ? "Methods that are built in or written in C have no lines of Ruby."
                      : "rbspy and stackprof write lines in their own formats: `rbspy record --format "
                        "speedscope`.";
    case CodeLanguage::javascript:
      if (profile.info().format == "cpuprofile" && !built_in)
        return "What a bundler wrote into one line has no lines of its own: where it keeps line breaks, the "
               "recording has them (esbuild: --minify-identifiers --minify-syntax).";
      return built_in ? "Functions of the engine itself have no lines of JavaScript."
                      : "A .cpuprofile brings lines: `node --cpu-prof`, or Save in the browser's tools.";
    case CodeLanguage::jvm:
      return built_in ? "Methods of the JVM itself, and of classes compiled without line numbers, have none."
                      : "JFR brings lines: `asprof -o jfr`, or a recording of the JVM itself.";
    case CodeLanguage::dotnet:
      return "An export of the profiler that writes files and lines, made where the .pdb files are, brings "
             "lines.";
    case CodeLanguage::php:
      return "A profiler of PHP that writes files and lines, such as excimer's speedscope export, brings "
             "lines.";
    case CodeLanguage::go:
      return "pprof files hold lines: `go tool pprof -proto BINARY PROFILE` writes one with the binary that "
             "was "
             "measured.";
    case CodeLanguage::native:
    case CodeLanguage::unknown:
      break;
  }
  if (kind == FrameKind::jit || kind == FrameKind::interpreted)
    return "A profiler of the runtime itself, or an option of this one for line numbers, brings lines.";
  return "Compiling with -g and a profiler or an export that writes line numbers bring lines.";
}

Result<std::vector<MissingPart>> find_missing(const Selection& selection, const SourceMap* sources,
                                              StopToken stop) {
  std::vector<MissingPart> parts;
  if (selection.metric().v >= selection.rows->self.values.size()) return parts;
  PROFD_TRY(const MissingSums sums,
            std::visit([&](const auto& values) { return sum(selection, values, sources, stop); },
                       selection.rows->self.values[selection.metric().v]));
  const double whole = std::fabs(as_double(selection.sums->total));
  const std::string metric = sanitize_text(selection.profile->metrics()[selection.metric().v].name);
  const auto add = [&](MissingKind kind, std::string_view what, std::string advice) {
    const auto i = static_cast<std::size_t>(kind);
    if (whole == 0 || !(std::fabs(as_double(sums.amount[i])) >= whole * kWorthSaying)) return;
    MissingPart part;
    part.kind = kind;
    part.amount = sums.amount[i];
    // Values below zero elsewhere can make a part more than the whole.
    const bool all = std::fabs(as_double(part.amount)) >= whole;
    part.share = format_share(all ? selection.sums->total : part.amount, selection.sums->total);
    part.text = fmt::format("{} of {} is in {}.", part.share, metric, what);
    part.advice = std::move(advice);
    parts.push_back(std::move(part));
  };
  const Profile& profile = *selection.profile;
  add(MissingKind::symbols, "code without function names", symbols_advice(profile, most(sums.by_kind[0])));
  // Those of what was put together are the inputs' own.
  if (profile.composition() != nullptr) return parts;
  const FrameKind unlined = most(sums.by_kind[1]);
  if (sums.fileless * 2 > sums.by_kind[1][static_cast<std::size_t>(unlined)])
    add(MissingKind::lines, "code with line numbers of files that are not named",
        "The format names no files; another export of the profiler may.");
  else
    add(MissingKind::lines, "code without line numbers", lines_advice(profile, unlined));
  add(MissingKind::sources, "code whose files are not in the workspace",
      "If they are there under other paths, a path mapping says so, in the settings or as map in "
      ".profd.toml.");
  return parts;
}

Result<std::string> unnamed_text(const Selection& selection, StopToken stop) {
  constexpr double kMuch = 0.1;
  const auto& unresolved = selection.profile->functions().unresolved;
  // Most profiles have all names, or nearly all.
  if (std::find_if(unresolved.begin(), unresolved.end(), [](auto flag) { return flag != 0; }) ==
      unresolved.end())
    return std::string();
  PROFD_TRY(const std::vector<MissingPart> parts, find_missing(selection, nullptr, std::move(stop)));
  for (const MissingPart& part : parts)
    if (part.kind == MissingKind::symbols &&
        std::fabs(as_double(part.amount)) >= std::fabs(as_double(selection.sums->total)) * kMuch)
      return fmt::format("{} {}", part.text, part.advice);
  return std::string();
}

std::string granularity_note(const Selection& selection, Granularity granularity) {
  if (granularity != Granularity::line && granularity != Granularity::address) return "";
  const Profile& profile = *selection.profile;
  const bool lines = granularity == Granularity::line;
  bool code = false;
  FrameKind kind = FrameKind::native;
  for (std::size_t f = 0; f < profile.frames().size(); ++f) {
    if (lines ? profile.frames().line[f] != 0 : profile.frames().address[f] != 0) return "";
    if (!code) kind = profile.frames().kind[f];
    code = code || is_code(profile.frames().kind[f]);
  }
  if (!code) return "";
  if (profile.composition() != nullptr)
    return "Profiles that are put together have no lines and addresses: what is shown is as by function.";
  if (!lines) return "The profile has no addresses: what is shown is as by line or function.";
  return "The profile has no line numbers: what is shown is as by function. " + lines_advice(profile, kind);
}

}  // namespace profd
