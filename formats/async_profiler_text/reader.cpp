// The text output of async-profiler: traces and a flat list. docs/formats/async-profiler-text.md has the
// form.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/support/frame_text.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".txt"};
constexpr ReaderNotes kNotes{
    .versions = "-o flat,traces of 2.9 to 4.6",
    .keeps =
        "the stacks listed with samples and time or bytes, kinds of frames; a flat list when there are no "
        "stacks",
    .recording = "asprof -d 30 -o traces=200,flat=50 -f out.txt PID",
    .verified = "awk over one corpus file: the sums of its stacks",
};
constexpr std::string_view kHead = "--- Execution profile ---";

// "--- 1046366807 ns (38.99%), 519 samples".
struct Trace {
  std::int64_t value = 0, samples = 0;
  std::string_view unit;
};

bool parse_trace(std::string_view line, Trace& trace) {
  if (!line.starts_with("--- ")) return false;
  line.remove_prefix(4);
  const std::size_t blank = line.find(' '), open = line.find(" ("), close = line.find("), ");
  if (blank == std::string_view::npos || open == std::string_view::npos || close == std::string_view::npos ||
      blank >= open)
    return false;
  if (!parse_int(line.substr(0, blank), trace.value) || trace.value < 0) return false;
  trace.unit = line.substr(blank + 1, open - blank - 1);
  const std::string_view rest = line.substr(close + 3);
  return parse_int(rest.substr(0, rest.find(' ')), trace.samples) && trace.samples >= 0;
}

// "  [ 0] frame".
bool parse_frame(std::string_view line, std::string_view& name) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || line[begin] != '[') return false;
  const std::size_t end = line.find("] ", begin);
  std::uint32_t index = 0;
  if (end == std::string_view::npos || !parse_uint(trim(line.substr(begin + 1, end - begin - 1)), index))
    return false;
  name = line.substr(end + 2);
  return true;
}

// "   8204784    0.31%        4  name" of the flat list.
bool parse_flat(std::string_view line, Trace& trace, std::string_view& name) {
  const auto word = [&] {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view found = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return found;
  };
  const std::string_view value = word(), share = word(), samples = word();
  name = trim(line);
  return parse_int(value, trace.value) && trace.value >= 0 && share.ends_with('%') &&
         parse_int(samples, trace.samples) && trace.samples >= 0 && !name.empty();
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      const std::size_t offset = text_.offset + lines.offset();
      PROFD_CHECK(read_line(line, offset));
    }
    PROFD_CHECK(finish_trace());
    if (n_traces_ == 0 && n_flat_ == 0)
      return fail(ErrorCode::malformed, "the text has neither traces nor a flat list");
    report();
    return {};
  }

 private:
  Result<void> read_line(std::string_view line, std::size_t offset) {
    std::string_view name;
    Trace trace;
    if (line == kHead || trim(line).empty() || line.starts_with("  ---")) return {};
    if (line.starts_with("Total samples")) {
      if (!parse_int(trim(line.substr(line.find(':') + 1)), total_)) malformed(offset);
    } else if (parse_trace(line, trace)) {
      PROFD_CHECK(finish_trace());
      ++n_traces_;
      declare(trace.unit);
      if (trace.unit != unit_) {
        ++n_units_;
        return {};
      }
      trace_ = trace;
      in_trace_ = true;
      offset_ = offset;
    } else if (in_trace_ && parse_frame(line, name)) {
      if (stack_.size() >= context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            offset);
      stack_.push_back(frame(name));
    } else if (line.starts_with(' ') && line.find("percent") != std::string_view::npos) {
      PROFD_CHECK(finish_trace());
      in_flat_ = true;
      const std::string_view unit = trim(line).substr(0, trim(line).find(' '));
      declare(unit);
    } else if (in_flat_ && parse_flat(line, trace, name)) {
      ++n_flat_;
      // The list repeats what the traces say.
      if (n_traces_ > 0) return {};
      const FrameId frames[] = {frame(name)};
      add(frames, trace);
    } else if (!in_trace_ && !in_flat_ && line.find(':') != std::string_view::npos) {
      // "unknown_Java        : 1 (3.03%)": samples that failed; they are in the traces too.
      builder_.info().properties.emplace_back(trim(line.substr(0, line.find(':'))),
                                              trim(line.substr(line.find(':') + 1)));
    } else {
      malformed(offset);
    }
    return {};
  }

  // The first unit counts, be it of a trace or of a list.
  void declare(std::string_view unit) {
    if (declared_) return;
    declared_ = true;
    unit_ = unit;
    const std::string normal = normalize_unit(unit);
    builder_.add_metric("samples", "count");
    has_value_ = normal != "samples" && normal != "count";
    if (has_value_)
      builder_.set_default_metric(
          builder_.add_metric(normal.ends_with("seconds") ? std::string_view("time") : unit, normal));
  }

  FrameId frame(std::string_view text) {
    const std::uint32_t row = rows_.row(text);
    if (row < frames_.size()) return frames_[row];
    const FrameText parsed = parse_frame_text(text.empty() ? std::string_view("(empty)") : text);
    FrameSpec spec;
    spec.function = builder_.function(FunctionSpec{.name = builder_.string(parsed.name),
                                                   .file = builder_.string(parsed.file),
                                                   .unresolved = parsed.unresolved});
    spec.line = parsed.line;
    spec.kind = parsed.kind;
    spec.inlined = parsed.inlined;
    return frames_.emplace_back(builder_.frame(spec));
  }

  Result<void> finish_trace() {
    if (!in_trace_) return {};
    in_trace_ = false;
    if (stack_.empty() && !context_.partial)
      return fail(ErrorCode::malformed, "a trace has no frames", offset_);
    std::reverse(stack_.begin(), stack_.end());
    add(stack_, trace_);
    stack_.clear();
    return {};
  }

  void add(std::span<const FrameId> stack, const Trace& trace) {
    const std::array<std::int64_t, 2> values{trace.samples, trace.value};
    builder_.add_sample(stack, std::span<const std::int64_t>(values).first(has_value_ ? 2 : 1));
    std::int64_t sum = 0;
    n_samples_ = __builtin_add_overflow(n_samples_, trace.samples, &sum) ? INT64_MAX : sum;
  }

  void malformed(std::size_t offset) {
    if (n_malformed_++ == 0) first_malformed_ = offset;
  }

  void report() {
    builder_.info().producer = "async-profiler";
    builder_.set_n_samples(static_cast<std::uint64_t>(n_samples_));
    context_.report.add("malformed-line", Severity::loss, "lines that were not understood were not read",
                        first_malformed_, n_malformed_);
    context_.report.add("other-unit", Severity::loss, "traces in another unit than the first were left out",
                        std::nullopt, n_units_);
    if (total_ > n_samples_)
      context_.report.add("left-out", Severity::loss,
                          fmt::format("the text names {} of {} samples; asprof writes the most frequent only",
                                      n_samples_, total_),
                          std::nullopt, static_cast<std::uint64_t>(total_ - n_samples_));
    if (n_traces_ == 0)
      context_.report.add("no-stacks", Severity::info,
                          "the text has a flat list only: functions without callers", std::nullopt, n_flat_);
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows rows_;
  std::vector<FrameId> frames_;  // by row
  std::vector<FrameId> stack_;   // leaf first
  Trace trace_;
  std::string_view unit_;
  bool declared_ = false, has_value_ = false, in_trace_ = false, in_flat_ = false;
  std::size_t offset_ = 0, first_malformed_ = 0;
  std::int64_t total_ = 0, n_samples_ = 0;
  std::uint64_t n_traces_ = 0, n_flat_ = 0, n_units_ = 0, n_malformed_ = 0;
};

class AsyncProfilerTextReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "async-profiler-text", "async-profiler text", kExtensions, 503, "async-profiler", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return sniff_text(prefix).starts_with(kHead) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_async_profiler_text_reader() {
  return std::make_unique<AsyncProfilerTextReader>();
}

}  // namespace profd
