// XPlane, what XLA's profiler writes for JAX, TensorFlow and PyTorch/XLA: events of threads and devices,
// which are nested by their times.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <queue>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/text_number.h"
#include "formats/xplane/space.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".xplane.pb"};
constexpr ReaderNotes kNotes{
    .versions = "of jax.profiler, TensorFlow and PyTorch/XLA",
    .keeps = "events as nested spans, time, threads and queues, Python functions with file and line",
    .recording = "with jax.profiler.trace(\"/tmp/trace\"): step(x)",
    .verified = "against jax.profiler.ProfileData: number, time and names of all events",
};
constexpr std::int64_t kUnixNs = std::int64_t{1} << 60;  // in 2006: later is a time of day

struct Span {
  std::int64_t begin, end;
  FrameId frame;
  std::uint32_t order;     // of the file
  bool continued = false;  // of one that outlived what it began in: not an event of its own
};
// Outer ones first; of two alike the one that the file has first.
struct Later {
  bool operator()(const Span& a, const Span& b) const {
    if (a.begin != b.begin) return a.begin > b.begin;
    if (a.end != b.end) return a.end < b.end;
    return a.order > b.order;
  }
};

class XplaneReading {
 public:
  XplaneReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    PROFD_TRY(const xplane::Space space, xplane::read_space(source_, context_));
    if (space.planes.empty()) return fail(ErrorCode::malformed, "the file has no plane");
    builder_.info().producer = "XLA profiler";
    set_clock(space);
    builder_.add_metric("time", "nanoseconds");
    builder_.add_metric("events", "count");
    for (const xplane::Plane& plane : space.planes)
      for (const xplane::Line& line : plane.lines) PROFD_CHECK(read_line(plane, line));
    builder_.set_n_samples(n_events_);
    report();
    return {};
  }

 private:
  // Lines count from the start of the recording, or from 1970 as it does.
  void set_clock(const xplane::Space& space) {
    if (space.start_ns > 0) builder_.info().time_ns = space.start_ns;
    if (space.start_ns > 0 && space.stop_ns > space.start_ns)
      builder_.info().duration_ns = space.stop_ns - space.start_ns;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const xplane::Plane& plane : space.planes)
      for (const xplane::Line& line : plane.lines)
        if (line.timestamp_ns >= kUnixNs) first = std::min(first, line.timestamp_ns);
    if (first == std::numeric_limits<std::int64_t>::max()) return;
    origin_ = space.start_ns > 0 && space.start_ns <= first ? space.start_ns : first;
    builder_.info().time_ns = origin_;
  }

  Result<void> read_line(const xplane::Plane& plane, const xplane::Line& line) {
    if (line.events.empty()) return {};
    ThreadSpec spec;
    spec.name = line.name;
    spec.process_name = plane.name;
    // Host threads have hashes, queues small numbers.
    if (line.id > 0 && line.id < kNone) spec.tid = line.id;
    SampleContext where;
    where.thread = builder_.thread(spec);
    const std::int64_t start = line.timestamp_ns >= kUnixNs ? line.timestamp_ns - origin_ : line.timestamp_ns;
    std::vector<Span> spans;
    spans.reserve(line.events.size());
    for (const protobuf::Cursor& encoded : line.events) {
      if (++n_read_ % 65536 == 0) {
        PROFD_CHECK(context_.stop.status());
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(source_.bytes().data());
        if (context_.progress)
          context_.progress(static_cast<std::uint64_t>(encoded.p - begin), source_.bytes().size());
      }
      PROFD_TRY(const xplane::Event event, xplane::read_event(encoded, source_));
      if (event.has_stats) ++n_with_stats_;
      const FrameId frame = frame_of(plane, event.metadata);
      const std::int64_t duration = std::max<std::int64_t>(event.duration_ps, 0);
      if (event.duration_ps < 0) ++n_negative_;
      if (event.n_occurrences > 0) {
        const std::int64_t values[] = {duration / 1000, event.n_occurrences};
        builder_.add_sample(builder_.context(kRootContext, frame), values, where);
        n_events_ += static_cast<std::uint64_t>(event.n_occurrences);
        continue;
      }
      std::int64_t until_ps, begin, end;
      if (event.offset_ps < 0 || __builtin_add_overflow(event.offset_ps, duration, &until_ps) ||
          __builtin_add_overflow(start, event.offset_ps / 1000, &begin) ||
          __builtin_add_overflow(start, until_ps / 1000, &end)) {
        ++n_out_of_range_;
        continue;
      }
      if (event.offset_ps % 1000 != 0 || until_ps % 1000 != 0) ++n_rounded_;
      spans.push_back({begin, end, frame, static_cast<std::uint32_t>(spans.size())});
      ++n_events_;
    }
    nest(std::move(spans), where);
    return {};
  }

  // Every moment belongs to the innermost event. One that outlives what it began in goes on without it.
  void nest(std::vector<Span> spans, SampleContext where) {
    struct Open {
      std::int64_t end;
      ContextId context;
    };
    std::uint64_t budget = 4 * spans.size() + 1000;
    std::priority_queue<Span, std::vector<Span>, Later> next(Later{}, std::move(spans));
    std::vector<Open> open;
    std::int64_t now = 0;
    const auto advance = [&](std::int64_t to) {
      if (to > now && !open.empty()) {
        const std::int64_t values[] = {to - now, 0};
        where.time = now;
        builder_.add_sample(open.back().context, values, where);
      }
      now = std::max(now, to);
    };
    const auto close_until = [&](std::int64_t time) {
      while (!open.empty() && open.back().end <= time) {
        advance(open.back().end);
        open.pop_back();
      }
      advance(time);
    };
    if (!next.empty()) now = next.top().begin;
    while (!next.empty()) {
      Span span = next.top();
      next.pop();
      close_until(span.begin);
      if (!open.empty() && span.end > open.back().end) {
        if (budget > 0) {
          --budget;
          Span rest = span;
          rest.begin = open.back().end;
          rest.continued = true;
          next.push(rest);
          if (!span.continued) ++n_crossing_;
        } else {
          ++n_clipped_;
        }
      }
      const ContextId parent = open.empty() ? kRootContext : open.back().context;
      const ContextId context = builder_.context(parent, span.frame);
      if (!span.continued) {
        const std::int64_t values[] = {0, 1};
        where.time = span.begin;
        builder_.add_sample(context, values, where);
        builder_.timeline().add_span(
            {.begin = span.begin, .end = span.end, .context = context, .thread = where.thread});
      }
      open.push_back({open.empty() ? span.end : std::min(span.end, open.back().end), context});
    }
    while (!open.empty()) close_until(open.back().end);
  }

  // "$train.py:13 forward" is a function of Python, where it begins.
  FrameId frame_of(const xplane::Plane& plane, std::int64_t metadata) {
    if (plane_ != &plane) {
      plane_ = &plane;
      frames_.clear();
    }
    const auto [found, is_new] = frames_.try_emplace(metadata);
    if (!is_new) return found->second;
    const auto named = plane.event_names.find(metadata);
    std::string_view name = named == plane.event_names.end() ? std::string_view() : named->second;
    FunctionSpec function;
    FrameSpec frame;
    if (name.empty()) {
      if (named == plane.event_names.end()) ++n_unknown_;
      function.name = builder_.string(fmt::format("[event {}]", metadata));
      function.unresolved = true;
    } else if (const std::size_t blank = name.find(' ');
               name.front() == '$' && blank != std::string_view::npos) {
      std::string_view place = name.substr(1, blank - 1);
      const std::size_t colon = place.rfind(':');
      std::uint32_t line = 0;
      if (colon != std::string_view::npos && parse_uint(place.substr(colon + 1), line)) {
        function.start_line = line == kNone ? 0 : line;
        place = place.substr(0, colon);
      }
      function.name = builder_.string(name.substr(blank + 1));
      if (place != "<unknown>") function.file = builder_.string(place);
      frame.kind = FrameKind::interpreted;
    } else {
      function.name = builder_.string(name);
    }
    frame.function = builder_.function(function);
    return found->second = builder_.frame(frame);
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("unknown-event", Severity::loss, "Kinds of events have no name in their plane.", n_unknown_);
    row("negative-duration", Severity::loss, "Events of negative length count as none.", n_negative_);
    row("time-out-of-range", Severity::loss, "Events whose times do not fit 64 bits were left out.",
        n_out_of_range_);
    row("crossing", Severity::info,
        "Events outlive the one they began in; after its end they stand without it.", n_crossing_);
    row("clipped", Severity::loss, "Events that outlive the one they began in were cut at its end.",
        n_clipped_);
    row("rounded-times", Severity::info, "Times were rounded to whole nanoseconds.", n_rounded_);
    row("event-fields", Severity::info, "What events say beside their names and times was not read.",
        n_with_stats_);
    if (n_events_ == 0) context_.report.add("no-events", Severity::info, "The file has no events.");
  }

  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::int64_t origin_ = 0;
  const xplane::Plane* plane_ = nullptr;
  std::unordered_map<std::int64_t, FrameId> frames_;  // of plane_, by metadata
  std::uint64_t n_read_ = 0, n_events_ = 0, n_unknown_ = 0, n_negative_ = 0, n_out_of_range_ = 0;
  std::uint64_t n_crossing_ = 0, n_clipped_ = 0, n_rounded_ = 0, n_with_stats_ = 0;
};

class XplaneReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "xplane", "XPlane trace", kExtensions, 140, "XLA's profiler: JAX, TensorFlow, PyTorch/XLA",
        1,        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return xplane::sniff_space(prefix);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    return XplaneReading(source, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_xplane_reader() {
  return std::make_unique<XplaneReader>();
}

}  // namespace profd
