// jitdump (jit-PID.dump) by itself: what a JIT compiler emitted, how much of it and when. Beside a perf.data
// it is a source of symbols, which formats/perf_data reads through the same parser.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "formats/support/jit_frames.h"
#include "formats/support/jitdump.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".dump"};
constexpr ReaderNotes kNotes{
    .versions = "version 1, both byte orders",
    .keeps =
        "code loads by function and line with their size, thread and time; names for a perf.data beside it",
    .recording = "perf record -k mono -g -- node --perf-prof app.js",
    .verified = "the record headers of one corpus file, counted by another program",
};

class Reading {
 public:
  Reading(const JitDump& dump, ReadContext& context, ProfileBuilder& builder)
      : dump_(dump), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.add_metric("code_size", "bytes");
    builder_.add_metric("loads", "count");
    ProfileInfo& info = builder_.info();
    info.properties.emplace_back("pid", std::to_string(dump_.pid));
    info.properties.emplace_back("elf machine", std::to_string(dump_.machine));
    std::uint64_t last = dump_.time, n_loads = 0;
    for (const JitCode& code : dump_.code) {
      if (context_.stop.check()) return context_.stop.status();
      last = std::max(last, code.time);
      if (code.moved) {
        context_.report.add("moved-code", Severity::info, "moves of code count nothing", code.offset);
        continue;
      }
      ++n_loads;
      add(code);
    }
    builder_.set_n_samples(n_loads);
    if (!dump_.arch_clock && last - dump_.time <= static_cast<std::uint64_t>(kMaxTime))
      info.duration_ns = static_cast<std::int64_t>(last - dump_.time);
    report();
    return {};
  }

 private:
  static constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();

  // One measurement for the bytes of each source line.
  void add(const JitCode& code) {
    SampleContext where;
    where.thread = builder_.thread({.tid = code.tid, .pid = code.pid});
    if (!dump_.arch_clock && code.time >= dump_.time &&
        code.time - dump_.time <= static_cast<std::uint64_t>(kMaxTime))
      where.time = static_cast<std::int64_t>(code.time - dump_.time);
    const std::uint64_t end = code.start + code.size;
    std::uint64_t at = code.start;
    std::int64_t loads = 1;
    const auto piece = [&](std::uint64_t to, const JitLine* line) {
      if (to <= at && loads == 0) return;
      stack_.clear();
      const JitPlace place{.module = {}, .address = at, .start = code.start, .n_bytes = code.size};
      append_jit_frames(builder_, code.name, place, line, stack_);
      std::reverse(stack_.begin(), stack_.end());
      const auto bytes =
          static_cast<std::int64_t>(std::min<std::uint64_t>(to - at, static_cast<std::uint64_t>(kMaxTime)));
      builder_.add_sample(stack_, std::array<std::int64_t, 2>{bytes, loads}, where);
      loads = 0;
      at = to;
    };
    const JitLine* before = nullptr;
    for (std::uint32_t i = 0; i < code.n_lines; ++i) {
      const JitLine& line = dump_.lines[code.first_line + i];
      if (line.address > at) piece(std::min(line.address, end), before);
      before = &line;
    }
    piece(end, before);
  }

  void report() {
    context_.report.add("bad-debug-line", Severity::loss,
                        "lines of debug information that do not belong to their code, or whose files have no "
                        "names, were not read",
                        std::nullopt, dump_.n_bad_lines);
    context_.report.add("malformed-record", Severity::loss, "records whose fields do not fit were not read",
                        std::nullopt, dump_.n_bad_records);
    context_.report.add("unwinding-info", Severity::info, "records of unwinding information were not needed",
                        std::nullopt, dump_.n_records[4]);
    context_.report.add("unknown-record", Severity::info, "records of unknown kinds were skipped",
                        std::nullopt, dump_.n_records[5]);
  }

  const JitDump& dump_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<FrameId> stack_;
};

class JitDumpReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"jitdump",
                                 "jitdump (jit-PID.dump)",
                                 kExtensions,
                                 31,
                                 "V8 and Node.js --perf-prof, OpenJDK, .NET, LLVM, Wasmtime, CPython",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return is_jitdump(prefix) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const JitDump dump, parse_jitdump(source.bytes()));
    if (dump.cut) {
      if (!context.partial) return fail(ErrorCode::truncated, "the file ends inside a record", *dump.cut);
      context.report.add("truncated", Severity::error,
                         "the file ends inside a record; what came before was read", *dump.cut);
    }
    return Reading(dump, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_jitdump_reader() {
  return std::make_unique<JitDumpReader>();
}

}  // namespace profd
