// Android ART method traces (Debug.startMethodTracing, `am profile`): sections of text, then binary records
// of methods entered and left. Format: art/runtime/trace.h and dalvik's docs; versions 1 to 3.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/byte_cursor.h"
#include "formats/support/java_frame.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".trace"};
constexpr ReaderNotes kNotes{
    .versions = "versions 1 to 3, wall, thread or dual clock; not the streaming form of Android 15",
    .keeps = "calls with wall and processor time, threads, times, classes, files and lines",
    .recording = "adb shell am profile start com.example /data/local/tmp/app.trace",
    .verified = "another decoder, on one corpus file: calls, wall and processor time, two functions",
};
constexpr std::uint32_t kMagic = 0x574f4c53;  // "SLOW"

class Reading {
 public:
  Reading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    PROFD_TRY(const std::size_t data, read_sections());
    return read_records(data);
  }

 private:
  enum class Clock : std::uint8_t { wall, cpu, dual };
  struct Call {
    FrameId frame;
    ContextId context;
    std::int64_t begin;
  };
  struct Thread {
    ThreadId id;
    std::vector<Call> open;
    std::int64_t wall = 0, cpu = 0;  // of the last event
    bool started = false;
  };

  // Where the binary part begins.
  Result<std::size_t> read_sections() {
    const std::string_view text = source_.text();
    LineReader lines(text);
    std::string_view line, section;
    while (lines.next(line)) {
      if (line.starts_with('*')) {
        section = line.substr(1);
        if (section == "end") return lines.position();
        if (section != "version" && section != "threads" && section != "methods")
          return fail(ErrorCode::malformed, "a section is none of *version, *threads, *methods and *end",
                      lines.offset());
        continue;
      }
      if (section == "version")
        read_setting(line);
      else if (section == "threads")
        PROFD_CHECK(read_thread(line, lines.offset()));
      else if (section == "methods")
        PROFD_CHECK(read_method(line, lines.offset()));
      else
        return fail(ErrorCode::malformed, "the file does not begin with *version", lines.offset());
    }
    return fail(ErrorCode::truncated, "there is no *end after the methods", text.size());
  }

  void read_setting(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "clock")
      clock_ = value == "dual" ? Clock::dual : value == "thread-cpu" ? Clock::cpu : Clock::wall;
    if (key == "pid") parse_int(value, pid_);
    if (key == "data-file-overflow" && value == "true")
      context_.report.add("overflow", Severity::loss,
                          "the tracer's buffer was full: the end of the trace is missing");
    if (key == "elapsed-time-usec") {
      std::int64_t us;
      if (parse_int(value, us) && us >= 0 && us < (std::int64_t{1} << 50))
        builder_.info().duration_ns = us * 1000;
    }
    if (builder_.info().properties.size() < 32)
      builder_.info().properties.emplace_back(repair_utf8(key), repair_utf8(value));
  }

  Result<void> read_thread(std::string_view line, std::uint64_t offset) {
    const std::size_t tab = line.find('\t');
    std::int64_t tid;
    if (tab == std::string_view::npos || !parse_int(line.substr(0, tab), tid))
      return fail(ErrorCode::malformed, "a thread is no number and name", offset);
    thread_names_[tid] = line.substr(tab + 1);
    return {};
  }

  // "0x1468\tjava.lang.ClassLoader\tloadClass\t(Ljava/lang/String;)…\tClassLoader.java[\t99]"
  Result<void> read_method(std::string_view line, std::uint64_t offset) {
    std::array<std::string_view, 6> cells;
    std::size_t n = 0;
    for (;;) {
      const std::size_t tab = line.find('\t');
      cells[n++] = line.substr(0, tab);
      if (tab == std::string_view::npos || n == cells.size()) break;
      line.remove_prefix(tab + 1);
    }
    std::uint64_t id;
    if (n < 3 || !parse_hex(cells[0], id))
      return fail(ErrorCode::malformed, "a method is no id, class and name", offset);
    FunctionSpec function;
    const std::string name = fmt::format("{}.{}", repair_utf8(cells[1]), repair_utf8(cells[2]));
    function.name = builder_.string(name);
    // Methods that differ in their parameters are different ones.
    if (n > 3) function.system_name = builder_.string(fmt::format("{}{}", name, repair_utf8(cells[3])));
    if (n > 4 && !cells[4].empty()) {
      const std::string path = java_source_path(cells[1], cells[4]);
      function.file = builder_.string(path.empty() ? cells[4] : std::string_view(path));
    }
    std::int64_t number;
    if (n > 5 && parse_int(cells[5], number) && number > 0 && number < kNone)
      function.start_line = static_cast<std::uint32_t>(number);
    FrameSpec frame{.function = builder_.function(function)};
    // Packages are what bundles code in Java.
    if (const std::size_t dot = cells[1].rfind('.'); dot != std::string_view::npos)
      frame.module = builder_.module({.name = cells[1].substr(0, dot)});
    frame.kind = FrameKind::jit;
    methods_[id] = builder_.frame(frame);
    return {};
  }

  Result<void> read_records(std::size_t begin) {
    ByteCursor in(source_.bytes().subspan(begin), std::endian::little, begin);
    const std::uint32_t magic = in.u32();
    const std::uint16_t version = in.u16(), header = in.u16();
    const std::uint64_t start_us = in.u64();
    if (!in.ok()) return in.status("the header of the records");
    if (magic != kMagic) return fail(ErrorCode::malformed, "the records do not begin with SLOW", begin);
    if (version < 1 || version > 3)
      return fail(ErrorCode::unsupported,
                  fmt::format("version {} of the records is not read, only 1 to 3", version), begin);
    std::uint64_t size = version == 1 ? 9 : clock_ == Clock::dual ? 14 : 10;
    if (version == 3) {
      const std::uint16_t stated = in.u16();
      if (stated < size)
        return fail(ErrorCode::malformed, "the records are shorter than their fields", begin + 16);
      size = stated;
    }
    in.seek(header);
    if (header < 16 || !in.ok())
      return fail(ErrorCode::malformed, "the length of the header is wrong", begin + 6);
    if (start_us < (std::uint64_t{1} << 53))
      builder_.info().time_ns = static_cast<std::int64_t>(start_us * 1000);
    builder_.info().producer = "ART";
    const bool dual = clock_ == Clock::dual && version >= 2;
    if (clock_ != Clock::cpu) builder_.add_metric("wall", "nanoseconds");
    if (clock_ == Clock::cpu || dual) builder_.add_metric("cpu", "nanoseconds");
    const std::uint64_t whole = in.left() - in.left() % size;
    if (whole != in.left()) {
      if (!context_.partial && !source_.truncated())
        return fail(ErrorCode::truncated, "the file ends inside a record", in.offset() + whole);
      context_.report.add("truncated", Severity::loss, "the file ends inside a record", in.offset() + whole);
    }
    for (std::uint64_t left = whole / size, n = 0; left > 0; --left, ++n) {
      if (n % 65536 == 0) {
        PROFD_CHECK(context_.stop.status());
        if (context_.progress) context_.progress(in.offset(), source_.bytes().size());
      }
      const std::uint64_t at = in.offset();
      const std::size_t next = in.position() + size;
      const std::uint32_t tid = version == 1 ? in.u8() : in.u16();
      const std::uint32_t word = in.u32();
      const std::int64_t first = in.u32();
      const std::int64_t second = dual ? in.u32() : 0;
      in.seek(next);
      const std::int64_t wall = clock_ == Clock::cpu ? 0 : dual ? second : first;
      const std::int64_t cpu = clock_ == Clock::cpu || dual ? first : 0;
      PROFD_CHECK(read_event(tid, word, wall * 1000, cpu * 1000, at));
    }
    for (auto& [tid, thread] : threads_) {
      n_open_ += thread.open.size();
      while (!thread.open.empty()) close(thread, kNoTime);
    }
    context_.report.add("open-call", Severity::info,
                        "methods that were not left end with the last event of their thread", std::nullopt,
                        n_open_);
    context_.report.add("end-without-begin", Severity::info,
                        "methods that were entered before the trace began", std::nullopt, n_unmatched_);
    context_.report.add("time-backwards", Severity::loss, "times that run backwards count as no time",
                        std::nullopt, n_backwards_);
    builder_.set_n_samples(n_calls_);
    if (n_calls_ == 0) context_.report.add("no-calls", Severity::info, "The trace has no calls.");
    return {};
  }

  Thread& thread_of(std::uint32_t tid) {
    const auto [at, is_new] = threads_.try_emplace(tid);
    if (is_new) {
      ThreadSpec spec{.tid = tid, .pid = pid_};
      if (const auto name = thread_names_.find(tid); name != thread_names_.end()) spec.name = name->second;
      at->second.id = builder_.thread(spec);
    }
    return at->second;
  }

  FrameId frame_of(std::uint32_t method, std::uint64_t offset) {
    const auto [at, is_new] = methods_.try_emplace(method);
    if (is_new) {
      context_.report.add("unknown-method", Severity::loss, "events name methods that the file does not list",
                          offset);
      at->second = builder_.frame(
          {.function = builder_.function(FunctionSpec{
               .name = builder_.string(fmt::format("[method 0x{:x}]", method)), .unresolved = true})});
    }
    return at->second;
  }

  Result<void> read_event(std::uint32_t tid, std::uint32_t word, std::int64_t wall, std::int64_t cpu,
                          std::uint64_t at) {
    Thread& thread = thread_of(tid);
    advance(thread, wall, cpu);
    const FrameId frame = frame_of(word & ~3u, at);
    if ((word & 3) == 0) {
      if (thread.open.size() >= context_.limits.stack_depth)
        return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", at);
      const ContextId parent = thread.open.empty() ? kRootContext : thread.open.back().context;
      thread.open.push_back({frame, builder_.context(parent, frame), now_of(thread)});
      ++n_calls_;
      return {};
    }
    // Left, or unrolled by an exception; both name the method.
    if (thread.open.empty() || thread.open.back().frame != frame) {
      const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(),
                                      [&](const Call& call) { return call.frame == frame; });
      if (found == thread.open.rend()) {
        ++n_unmatched_;
        return {};
      }
      const auto depth = static_cast<std::size_t>(found.base() - thread.open.begin());
      while (thread.open.size() > depth) close(thread, now_of(thread));
    }
    close(thread, now_of(thread));
    return {};
  }

  [[nodiscard]] std::int64_t now_of(const Thread& thread) const {
    return clock_ == Clock::cpu ? thread.cpu : thread.wall;
  }
  void close(Thread& thread, std::int64_t end) {
    const Call& call = thread.open.back();
    builder_.timeline().add_span(
        {.begin = call.begin, .end = end, .context = call.context, .thread = thread.id});
    thread.open.pop_back();
  }

  // The time since the thread's last event belongs to the method that ran.
  void advance(Thread& thread, std::int64_t wall, std::int64_t cpu) {
    if (thread.started) {
      n_backwards_ += wall < thread.wall || cpu < thread.cpu;
      const std::int64_t d_wall = std::max<std::int64_t>(wall - thread.wall, 0);
      const std::int64_t d_cpu = std::max<std::int64_t>(cpu - thread.cpu, 0);
      if (!thread.open.empty() && (d_wall > 0 || d_cpu > 0)) {
        SampleContext where;
        where.thread = thread.id;
        where.time = now_of(thread);
        const std::int64_t values[] = {clock_ == Clock::cpu ? d_cpu : d_wall, d_cpu};
        builder_.add_sample(thread.open.back().context, std::span(values).first(builder_.n_metrics()), where);
      }
    }
    thread.started = true;
    thread.wall = std::max(thread.wall, wall);
    thread.cpu = std::max(thread.cpu, cpu);
  }

  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Clock clock_ = Clock::wall;
  std::int64_t pid_ = -1;
  std::unordered_map<std::int64_t, std::string_view> thread_names_;
  std::unordered_map<std::uint64_t, FrameId> methods_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::uint64_t n_calls_ = 0, n_open_ = 0, n_unmatched_ = 0, n_backwards_ = 0;
};

class AndroidArtTraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"android-art-trace",
                                 "Android method trace",
                                 kExtensions,
                                 44,
                                 "ART, Dalvik: Android Studio, Debug.startMethodTracing",
                                 3,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                                std::min<std::size_t>(prefix.size(), 4096));
    if (!text.starts_with("*version\n")) return Confidence::no;
    return text.find("\nclock=") != std::string_view::npos ? Confidence::certain : Confidence::maybe;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    return Reading(source, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_android_art_trace_reader() {
  return std::make_unique<AndroidArtTraceReader>();
}

}  // namespace profd
