// heaptrack's data files (KDE/heaptrack, src/analyze/accumulatedtracedata.cpp): one record a line, a letter
// and hexadecimal numbers. Both what heaptrack_interpret wrote and raw files, which have no names.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/heaptrack/records.h"
#include "formats/support/line_reader.h"

namespace profd {
namespace {

using heaptrack::Place;
using heaptrack::Records;

// ".heaptrack.raw" is what raw recordings are often called; heaptrack itself names files heaptrack.APP.PID.
constexpr std::array<std::string_view, 2> kExtensions{".heaptrack", ".heaptrack.raw"};
constexpr ReaderNotes kNotes{
    .versions = "file versions 0 to 3 (heaptrack 1.0 to 1.5), interpreted and raw, compressed or not",
    .keeps =
        "allocations, bytes, temporary, leaked and peak by stack, lines, inlining, block sizes; no curve "
        "over time",
    .recording = "heaptrack ./app",
    .verified =
        "heaptrack_print 1.4 on five corpus files: allocations, temporary, leaked and peak to the byte",
};

class Building {
 public:
  Building(const Records& records, ReadContext& context, ProfileBuilder& builder)
      : records_(records), context_(context), builder_(builder) {}

  Result<void> run() {
    describe();
    for (const auto& [name, unit] : {std::pair("allocations", "count"),
                                     {"allocated", "bytes"},
                                     {"temporary", "count"},
                                     {"leaked", "bytes"},
                                     {"peak", "bytes"}})
      builder_.add_metric(name, unit);
    builder_.set_default_metric(MetricId{0u});
    PROFD_CHECK(make_contexts());
    play();
    return {};
  }

 private:
  std::string_view string(std::uint32_t id) const {
    return id == 0 || id > records_.strings.size() ? std::string_view{} : records_.strings[id - 1];
  }

  void describe() {
    ProfileInfo& info = builder_.info();
    info.producer = fmt::format("heaptrack {}.{}.{}", records_.version >> 16 & 0xFFFF,
                                records_.version >> 8 & 0xFF, records_.version & 0xFF);
    info.program = repair_utf8(records_.command);
    info.duration_ns = records_.last_ms * 1'000'000;
    std::uint64_t rss;
    if (records_.peak_rss_pages > 0 &&
        !__builtin_mul_overflow(records_.peak_rss_pages, records_.page_size, &rss))
      info.properties.emplace_back("peak_rss", fmt::format("{} bytes", rss));
    for (const std::string_view suppression : records_.suppressions)
      info.properties.emplace_back("suppression", repair_utf8(suppression));
    if (records_.attached) info.properties.emplace_back("attached", "to a running program");
  }

  // heaptrack leaves out where operator new calls malloc; so does this, to have the same leaves.
  static bool is_operator_new(std::string_view function) {
    return function == "operator new(unsigned long)" || function == "operator new[](unsigned long)" ||
           function == "operator new(unsigned int)" || function == "operator new[](unsigned int)";
  }

  FrameId make_frame(std::uint32_t ip, const Place* place, bool inlined) {
    FunctionSpec function;
    const std::string_view module = string(records_.ip_module[ip]);
    const std::string_view name = place ? string(place->function) : std::string_view{};
    if (name.empty()) {
      const std::string_view base = module.substr(module.rfind('/') + 1);
      function.name = builder_.string(base.empty() ? "[unknown]" : fmt::format("[{}]", base));
      function.unresolved = true;
    } else {
      function.name = builder_.string(name);
    }
    FrameSpec frame;
    if (place) {
      function.file = builder_.string(string(place->file));
      frame.line = place->line;
    }
    frame.function = builder_.function(function);
    if (!module.empty()) frame.module = builder_.module({.name = module});
    frame.address = records_.ip_address[ip];
    frame.inlined = inlined;
    return builder_.frame(frame);
  }

  Result<void> make_contexts() {
    const std::size_t n_ips = records_.ip_address.size();
    // Frames of an instruction pointer, outermost first.
    std::vector<FrameId> frames;
    std::vector<std::size_t> first{0};
    std::vector<bool> skipped(n_ips);
    for (std::uint32_t ip = 0; ip < n_ips; ++ip) {
      const auto places =
          std::span(records_.places)
              .subspan(records_.ip_places[ip], records_.ip_places[ip + 1] - records_.ip_places[ip]);
      for (std::size_t i = places.size(); i-- > 0;)
        frames.push_back(make_frame(ip, &places[i], i + 1 < places.size()));
      if (places.empty()) frames.push_back(make_frame(ip, nullptr, false));
      skipped[ip] = !places.empty() && is_operator_new(string(places[0].function));
      first.push_back(frames.size());
    }
    const std::size_t n = records_.trace_ip.size();
    contexts_.assign(n + 1, kRootContext);
    std::vector<std::uint32_t> depth(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 65536 == 0) PROFD_CHECK(context_.stop.status());
      ContextId context = contexts_[records_.trace_parent[i]];
      depth[i + 1] = depth[records_.trace_parent[i]];
      const std::uint32_t ip = records_.trace_ip[i];
      if (ip != 0 && !skipped[ip - 1]) {
        for (std::size_t f = first[ip - 1]; f < first[ip]; ++f)
          context = builder_.context(context, frames[f]);
        depth[i + 1] += static_cast<std::uint32_t>(first[ip] - first[ip - 1]);
        if (depth[i + 1] > context_.limits.stack_depth)
          return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth");
      }
      contexts_[i + 1] = context;
    }
    return {};
  }

  // Costs of one kind of allocation.
  struct Cost {
    std::int64_t allocations = 0, temporary = 0, live = 0, peak = 0;
  };

  void play() {
    std::vector<Cost> costs(records_.info_size.size());
    std::int64_t total = 0, peak = 0;
    std::size_t peak_at = 0;  // the first so many events lead to the peak
    std::uint64_t n_wrong = 0;
    const auto& events = records_.events;
    const auto size_of = [&](std::uint32_t info) {
      return static_cast<std::int64_t>(records_.info_size[info]);
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::uint32_t info = events[i] & Records::kKind;
      Cost& cost = costs[info];
      if ((events[i] & Records::kFree) == 0) {
        ++cost.allocations;
        ++cost.live;
        if (__builtin_add_overflow(total, size_of(info), &total)) total = INT64_MAX;
        if (total > peak) {
          peak = total;
          peak_at = i + 1;
        }
        continue;
      }
      if ((events[i] & Records::kTemporary) != 0) ++cost.temporary;
      if (cost.live == 0) {
        ++n_wrong;
        continue;
      }
      --cost.live;
      total -= size_of(info);
    }
    for (std::size_t i = 0; i < peak_at; ++i) {
      Cost& cost = costs[events[i] & Records::kKind];
      if ((events[i] & Records::kFree) == 0)
        ++cost.peak;
      else if (cost.peak > 0)
        --cost.peak;
    }
    context_.report.add("free-without-allocation", Severity::loss,
                        "frees of what was not allocated at that time were not counted", std::nullopt,
                        n_wrong);
    const StringId key = builder_.string("bytes");
    std::uint64_t n_allocations = 0;
    for (std::uint32_t info = 0; info < costs.size(); ++info) {
      const Cost& cost = costs[info];
      if (cost.allocations == 0) continue;
      n_allocations += static_cast<std::uint64_t>(cost.allocations);
      const std::int64_t size = size_of(info);
      const std::int64_t values[] = {cost.allocations, bytes(cost.allocations, size), cost.temporary,
                                     bytes(cost.live, size), bytes(cost.peak, size)};
      const Label label{.key = key, .is_number = true, .number = size, .unit = key};
      SampleContext where;
      where.labels = builder_.label_set(std::span(&label, 1));
      builder_.add_sample(contexts_[records_.info_trace[info]], values, where);
    }
    builder_.set_n_samples(n_allocations);
  }

  std::int64_t bytes(std::int64_t n, std::int64_t size) {
    std::int64_t out;
    if (!__builtin_mul_overflow(n, size, &out)) return out;
    context_.report.add("overflow", Severity::loss, "sums of bytes above 9223372036854775807 were clamped");
    return INT64_MAX;
  }

  const Records& records_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<ContextId> contexts_;  // by trace
};

class HeaptrackReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"heaptrack", "heaptrack data", kExtensions, 610, "heaptrack", 2, kNotes};
    return info;
  }

  // "v VERSION [FILEVERSION]", then the executable or the command.
  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                                std::min<std::size_t>(prefix.size(), 4096));
    LineReader lines(text);
    std::string_view line;
    if (!lines.next(line) || !lines.ended() || line.size() > 40 || !line.starts_with("v "))
      return Confidence::no;
    if (line.find_first_not_of("0123456789abcdefABCDEF ", 2) != std::string_view::npos) return Confidence::no;
    if (!lines.next(line)) return Confidence::maybe;
    return line.starts_with("X ") || line.starts_with("x ") ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const Records records, heaptrack::read_records(source, context));
    if (records.events.empty() && records.info_size.empty())
      context.report.add("no-allocations", Severity::info, "The file has no allocation.");
    if (records.raw)
      context.report.add(
          "raw", Severity::info,
          "The file was not interpreted: frames have modules and addresses, no names. heaptrack_interpret "
          "adds them where the program's files are.");
    return Building(records, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_heaptrack_reader() {
  return std::make_unique<HeaptrackReader>();
}

}  // namespace profd
