// perf-PID.map by itself: the symbols of a process's JIT code and their sizes. Beside a perf.data it is a
// source of symbols, which formats/perf_data reads through the same parser.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "core/support/text.h"
#include "formats/support/jit_frames.h"
#include "formats/support/line_reader.h"
#include "formats/support/perf_map.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".map"};
constexpr ReaderNotes kNotes{
    .versions = "START SIZE name, in hexadecimal",
    .keeps = "symbols with address and size; names for a perf.data beside it",
    .recording = "node --perf-basic-prof app.js",
    .verified = "the lines of one corpus file, counted",
};

class PerfMapReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "perf-map",
        "perf-PID.map (JIT symbols)",
        kExtensions,
        580,
        "V8 and Node.js --perf-basic-prof, perf-map-agent, CPython -X perf, .NET, Julia",
        1,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text = sniff_text(prefix);
    constexpr std::uint64_t kFirstPage = 0x1000;  // no code lies in it
    int n = 0;
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      if (!lines.ended() && !at_end) break;
      const auto parsed = parse_perf_map_line(line);
      if (!parsed || parsed->start < kFirstPage || line.find('\0') != std::string_view::npos)
        return Confidence::no;
      ++n;
    }
    return n > 2 ? Confidence::certain : n > 0 ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    ProfileBuilder& builder = profiles.emplace_back();
    const MetricId size = builder.add_metric("code_size", "bytes");
    const MetricId symbols = builder.add_metric("symbols", "count");
    std::vector<FrameId> stack;
    std::uint64_t n = 0, n_clamped = 0;
    LineReader lines(text.text);
    for (std::string_view line; lines.next(line);) {
      if (context.stop.check()) return context.stop.status();
      if (line.empty()) continue;
      const std::uint64_t offset = text.offset + lines.offset();
      const auto parsed = parse_perf_map_line(line);
      if (!parsed || (source.truncated() && !lines.ended())) {
        context.report.add("malformed-line", Severity::loss,
                           "lines that are no `START SIZE name` were not read", offset);
        continue;
      }
      if (!is_valid_utf8(line))
        context.report.add("invalid-utf8", Severity::info, "names with bytes that are no UTF-8 were repaired",
                           offset);
      stack.clear();
      const JitPlace place{
          .module = {}, .address = parsed->start, .start = parsed->start, .n_bytes = parsed->size};
      append_jit_frames(builder, parsed->name, place, nullptr, stack);
      std::reverse(stack.begin(), stack.end());
      constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      n_clamped += parsed->size > kMax;
      const ContextId context_id = builder.context_of(stack);
      builder.add_self(context_id, size, static_cast<std::int64_t>(std::min(parsed->size, kMax)));
      builder.add_self(context_id, symbols, std::int64_t{1});
      ++n;
    }
    if (n == 0) return fail(ErrorCode::malformed, "no line reads `START SIZE name`", 0);
    builder.set_n_samples(n);
    context.report.add("count-too-large", Severity::loss, "sizes above 9223372036854775807 were clamped",
                       std::nullopt, n_clamped);
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_perf_map_reader() {
  return std::make_unique<PerfMapReader>();
}

}  // namespace profd
