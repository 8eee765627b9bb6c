// Logs of LLVM's XRay. docs/formats/xray.md.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/program_symbols.h"
#include "formats/xray/records.h"

namespace profd {
namespace {

using program::Symbols;

constexpr std::array<std::string_view, 1> kExtensions{".xray"};
constexpr ReaderNotes kNotes{
    .versions = "basic and flight data recorder mode, versions 1 to 5, little-endian; not the profiling mode",
    .keeps = "calls with wall time, threads, times; names from the program beside it",
    .recording = "XRAY_OPTIONS='patch_premain=true xray_mode=xray-basic' ./app",
    .verified = "llvm-xray account 14 of the same file: calls and time of every function",
};

class XRayReading {
 public:
  XRayReading(const xray::Log& log, const Symbols& symbols, ReadContext& context, ProfileBuilder& builder)
      : log_(log), symbols_(symbols), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.info().producer = "XRay";
    if (log_.time_ns) builder_.info().time_ns = *log_.time_ns;
    in_ticks_ = log_.header.frequency == 0;
    if (in_ticks_)
      builder_.add_metric("ticks", "count");
    else
      builder_.add_metric("wall", "nanoseconds");
    builder_.add_metric("calls", "count");
    if (!builder_.info().program.empty())
      module_ = builder_.module({.name = builder_.info().program, .addresses = AddressKind::vaddr});
    for (const xray::Thread& thread : log_.threads)
      threads_.push_back({builder_.thread({.tid = thread.tid, .pid = thread.pid}), {}, 0, false});
    if (!log_.events.empty()) {
      first_ = log_.events.front().ticks;
      for (const xray::Event& event : log_.events) first_ = std::min(first_, event.ticks);
    }
    std::uint64_t n = 0;
    for (const xray::Block& block : log_.blocks)
      for (std::size_t i = block.begin; i < block.end; ++i, ++n) {
        if (n % 65536 == 0) PROFD_CHECK(context_.stop.status());
        PROFD_CHECK(read_event(log_.events[i]));
      }
    for (OfThread& thread : threads_) {
      n_open_ += thread.open.size();
      while (!thread.open.empty()) close(thread);
    }
    report();
    builder_.set_n_samples(n_calls_);
    return {};
  }

 private:
  struct Call {
    std::uint32_t function;
    ContextId context;
    std::int64_t begin;
  };
  struct OfThread {
    ThreadId id;
    std::vector<Call> open;
    std::int64_t now;
    bool started;
  };

  Result<std::int64_t> time_of(std::uint64_t ticks) const {
    const std::uint64_t since = ticks - first_, rate = in_ticks_ ? 1'000'000'000 : log_.header.frequency;
    if (since / rate >= std::uint64_t{1} << 32)
      return fail(ErrorCode::malformed, "events lie more than a century apart");
    return static_cast<std::int64_t>(since / rate * 1'000'000'000 + since % rate * 1'000'000'000 / rate);
  }

  Result<void> read_event(const xray::Event& event) {
    OfThread& thread = threads_[event.thread];
    PROFD_TRY(const std::int64_t now, time_of(event.ticks));
    advance(thread, now);
    if (event.enters) {
      if (thread.open.size() >= context_.limits.stack_depth)
        return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth");
      const ContextId parent = thread.open.empty() ? kRootContext : thread.open.back().context;
      const ContextId context = builder_.context(parent, frame_of(event.function));
      thread.open.push_back({event.function, context, thread.now});
      const std::int64_t values[] = {0, 1};
      add(thread, context, values);
      ++n_calls_;
      return {};
    }
    const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(),
                                    [&](const Call& call) { return call.function == event.function; });
    if (found == thread.open.rend()) {
      ++n_unmatched_;
      return {};
    }
    // What an exception or longjmp has left has no end of its own.
    const auto depth = static_cast<std::size_t>(found.base() - thread.open.begin()) - 1;
    n_left_ += thread.open.size() - depth - 1;
    while (thread.open.size() > depth) close(thread);
    return {};
  }

  void add(const OfThread& thread, ContextId context, std::span<const std::int64_t> values) {
    SampleContext where;
    where.thread = thread.id;
    where.time = thread.now;
    builder_.add_sample(context, values, where);
  }

  // The time since the thread's last event belongs to the function that ran.
  void advance(OfThread& thread, std::int64_t now) {
    n_backwards_ += thread.started && now < thread.now;
    const std::int64_t past = thread.started ? std::max<std::int64_t>(now - thread.now, 0) : 0;
    thread.now = thread.started ? std::max(thread.now, now) : now;
    thread.started = true;
    if (past == 0 || thread.open.empty()) return;
    const std::int64_t values[] = {past, 0};
    add(thread, thread.open.back().context, values);
  }

  void close(OfThread& thread) {
    const Call& call = thread.open.back();
    builder_.timeline().add_span(
        {.begin = call.begin, .end = thread.now, .context = call.context, .thread = thread.id});
    thread.open.pop_back();
  }

  FrameId frame_of(std::uint32_t function) {
    const auto [at, is_new] = frames_.try_emplace(function);
    if (!is_new) return at->second;
    const std::vector<std::uint64_t>& addresses = symbols_.xray_functions();
    const bool known = function <= addresses.size();
    const std::uint64_t address = known ? addresses[function - 1] : 0;
    const std::size_t row = known ? symbols_.find(address) : Symbols::kNowhere;
    const bool named = row != Symbols::kNowhere && symbols_.all()[row].address == address;
    n_unnamed_ += !named;
    FunctionSpec spec;
    spec.name = builder_.string(named ? symbols_.all()[row].name : fmt::format("function #{}", function));
    spec.unresolved = !named;
    FrameSpec frame{.function = builder_.function(spec)};
    if (known) {
      frame.module = module_;
      frame.address = address;
    }
    return at->second = builder_.frame(frame);
  }

  void report() {
    ImportReport& out = context_.report;
    out.add(
        "no-symbols", Severity::loss,
        "the file names no functions, and no program that has them lies beside it or is named by --binary: "
        "they are shown by number",
        std::nullopt, n_unnamed_);
    out.add("open-call", Severity::info,
            "functions that were not left end with the last event of their thread", std::nullopt, n_open_);
    out.add("end-without-begin", Severity::info, "functions that were entered before the log began",
            std::nullopt, n_unmatched_);
    out.add(
        "call-without-end", Severity::info,
        "functions without an end of their own, as exceptions leave them, end with the one that called them",
        std::nullopt, n_left_);
    out.add("time-backwards", Severity::loss, "times that run backwards count as no time", std::nullopt,
            n_backwards_);
    out.add("custom-events", Severity::loss, "events of the program's own are not read", std::nullopt,
            log_.n_custom);
    if (n_calls_ == 0) out.add("no-calls", Severity::info, "The log has no calls.");
  }

  const xray::Log& log_;
  const Symbols& symbols_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  ModuleId module_;
  bool in_ticks_ = false;
  std::uint64_t first_ = 0;
  std::vector<OfThread> threads_;
  std::unordered_map<std::uint32_t, FrameId> frames_;
  std::uint64_t n_calls_ = 0, n_open_ = 0, n_unmatched_ = 0, n_left_ = 0, n_backwards_ = 0, n_unnamed_ = 0;
};

class XRayReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"xray", "XRay log", kExtensions, 90, "programs built with -fxray-instrument",
                                 3,      kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return xray::is_xray_log(prefix) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const xray::Log log, xray::read_log(source.bytes(), context));
    ProfileBuilder& builder = profiles.emplace_back();
    const Symbols symbols = context.program != nullptr
                                ? program::symbols_of(context.program->bytes())
                                : program::symbols_beside(context.beside, context, builder.info().program);
    return XRayReading(log, symbols, context, builder).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_xray_reader() {
  return std::make_unique<XRayReader>();
}

}  // namespace profd
