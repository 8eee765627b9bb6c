// Xdebug's function traces, the computer-readable kind (xdebug.trace_format=1).
// docs/formats/xdebug-trace.md says what is read.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".xt"};
constexpr ReaderNotes kNotes{
    .versions = "file formats 2 to 4 (Xdebug 2 and 3), trace_format=1",
    .keeps = "time and memory between records, calls, lines of callers, times",
    .recording = "php -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 app.php",
    .verified = "records of one corpus file, counted: calls by function, time of the whole",
};
constexpr std::string_view kStart = "TRACE START";

struct Counter {
  std::uint64_t n = 0;
  std::size_t first = 0;
  void add(std::size_t offset) {
    if (n++ == 0) first = offset;
  }
};

// The next field of a line of fields separated by tabs.
std::string_view take(std::string_view& line) {
  const std::size_t tab = line.find('\t');
  const std::string_view field = line.substr(0, tab);
  line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  return field;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.set_default_metric(builder_.add_metric("time", "nanoseconds"));
    builder_.add_metric("memory", "bytes");
    builder_.add_metric("calls", "count");
    ProfileInfo& info = builder_.info();
    info.format = "xdebug-trace";
    info.producer = "Xdebug";
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {}, [&](std::string_view line) {
      const std::size_t offset = text_.offset + lines.offset();
      return started_ ? read_record(line, offset) : read_header(line, offset);
    }));
    if (!started_) return fail(ErrorCode::malformed, "there is no line TRACE START", 0);
    if (n_calls_ == 0) return fail(ErrorCode::malformed, "the trace has no calls", 0);
    unclosed_ += open_.size();
    if (!open_.empty() && !open_.back().counted) advance(last_ns_, last_bytes_);
    close(0, kNoTime);
    if (any_time_ && last_ns_ >= first_ns_) info.duration_ns = last_ns_ - first_ns_;
    report();
    return {};
  }

 private:
  struct Call {
    std::uint64_t number;    // as the trace counts calls
    std::uint32_t function;  // row of functions_
    ContextId parent;        // above it
    ContextId context;       // itself, without a line: what it does between calls
    std::int64_t begin;      // since the trace began
    bool counted = false;    // its first piece carries the call
  };

  Result<void> read_header(std::string_view line, std::size_t offset) {
    if (line.starts_with("Version: "))
      builder_.info().producer = "Xdebug " + std::string(trim(line.substr(9)));
    else if (line.starts_with("File format: "))
      has_format_ = true;
    else if (line.starts_with(kStart)) {
      started_ = true;
      if (!has_format_)
        return fail(ErrorCode::unsupported,
                    "this trace is for people to read; record with xdebug.trace_format=1", offset);
    }
    return {};
  }

  // level, number, 0 entry | 1 exit | R returned value, time, memory, then of an entry: name, 1 user-defined,
  // included file, file and line of the call, number of arguments, arguments
  Result<void> read_record(std::string_view line, std::size_t offset) {
    if (line.empty() || line.starts_with("TRACE END") || line.starts_with(kStart)) return {};
    const std::string_view level = take(line), number_text = take(line), kind = take(line);
    if (kind == "R" || kind == "A") return {};  // values returned and assigned
    const std::string_view time = take(line), memory = take(line);
    std::int64_t ns = 0, bytes = 0;
    std::uint64_t number = 0;
    const bool summary = level.empty() && number_text.empty() && kind.empty();
    double seconds = 0;
    if (!parse_double(time, seconds) || !scaled_decimal(time, 9, ns) || !parse_int(memory, bytes) ||
        bytes < 0 || (!summary && !parse_uint(number_text, number)) ||
        (!summary && kind != "0" && kind != "1")) {
      malformed_.add(offset);
      return {};
    }
    advance(ns, bytes);
    if (summary) return {};
    if (kind == "1") {
      leave(number, offset);
      return {};
    }
    return enter(number, line, offset);
  }

  // What passed since the record before belongs to the call that was running.
  void advance(std::int64_t ns, std::int64_t bytes) {
    if (!any_time_) {
      any_time_ = true;
      first_ns_ = last_ns_ = ns;
      last_bytes_ = bytes;
      return;
    }
    std::int64_t length = 0;
    if (ns < last_ns_)
      ++n_backwards_;
    else if (__builtin_sub_overflow(ns, last_ns_, &length))
      length = std::numeric_limits<std::int64_t>::max();
    if (!open_.empty()) {
      Call& call = open_.back();
      const std::array<std::int64_t, 3> values{length, bytes - last_bytes_, call.counted ? 0 : 1};
      call.counted = true;
      if (values[0] != 0 || values[1] != 0 || values[2] != 0) {
        SampleContext where;
        if (const std::int64_t at = now(); at != kNoTime) where.time = at;
        builder_.add_sample(call.context, values, where);
      }
    }
    last_ns_ = std::max(last_ns_, ns);
    last_bytes_ = bytes;
  }

  // Since the trace began; kNoTime where that is too long.
  [[nodiscard]] std::int64_t now() const {
    std::int64_t at = 0;
    return __builtin_sub_overflow(last_ns_, first_ns_, &at) ? kNoTime : at;
  }
  // The innermost calls, until `depth` of them are open.
  void close(std::size_t depth, std::int64_t end) {
    for (; open_.size() > depth; open_.pop_back())
      if (open_.back().begin != kNoTime)
        builder_.timeline().add_span(
            {.begin = open_.back().begin, .end = end, .context = open_.back().context});
  }

  Result<void> enter(std::uint64_t number, std::string_view line, std::size_t offset) {
    const std::string_view name = take(line), user = take(line), included = take(line), file = take(line),
                           line_text = take(line);
    if (name.empty()) {
      malformed_.add(offset);
      return {};
    }
    if (open_.size() >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          offset);
    std::uint32_t at = 0;
    parse_uint(line_text, at);
    ContextId parent = kRootContext;
    if (!open_.empty()) {
      // The place of the call is a line of the caller.
      const Call& caller = open_.back();
      parent =
          at == 0 ? caller.context : builder_.context(caller.parent, frame_of(caller.function, file, at));
    }
    const std::uint32_t function = function_of(name, included, open_.empty() ? file : "", user == "1");
    const ContextId context = builder_.context(parent, frame_of(function, "", 0));
    open_.push_back({number, function, parent, context, now()});
    ++n_calls_;
    return {};
  }

  void leave(std::uint64_t number, std::size_t offset) {
    const auto found =
        std::find_if(open_.rbegin(), open_.rend(), [&](const Call& call) { return call.number == number; });
    if (found == open_.rend()) {
      unmatched_.add(offset);
      return;
    }
    const auto depth = static_cast<std::size_t>(open_.rend() - found) - 1;
    unclosed_ += open_.size() - depth - 1;
    close(depth, now());
  }

  std::uint32_t function_of(std::string_view name, std::string_view included, std::string_view file,
                            bool user) {
    // An include is a function of its own for every file; {main} is where the trace began.
    const std::uint32_t row =
        function_rows_.row(included.empty() ? name : included, included.empty() ? user : 2);
    if (row < functions_.size()) return row;
    FunctionSpec spec;
    if (included.empty()) {
      spec.name = builder_.string(name);
      spec.file = builder_.string(file);
    } else {
      const std::size_t slash = included.find_last_of("/\\");
      spec.name = builder_.string(
          fmt::format("{} {}", name, included.substr(slash == std::string_view::npos ? 0 : slash + 1)));
      spec.file = builder_.string(included);
    }
    functions_.push_back(builder_.function(spec));
    kinds_.push_back(user || !included.empty() ? FrameKind::interpreted : FrameKind::native);
    return row;
  }

  FrameId frame_of(std::uint32_t function, std::string_view file, std::uint32_t line) {
    FrameSpec spec;
    spec.function = functions_[function];
    spec.kind = kinds_[function];
    spec.line = line;
    if (line != 0) spec.file = builder_.string(file);
    return builder_.frame(spec);
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         const Counter& counter) {
      if (counter.n > 0) context_.report.add(kind, severity, message, counter.first, counter.n);
    };
    row("malformed-line", Severity::loss, "Lines that are no record were not read.", malformed_);
    row("unmatched-exit", Severity::loss, "Calls were left that were not open.", unmatched_);
    if (unclosed_ > 0)
      context_.report.add("unclosed-call", Severity::loss,
                          "Calls have no exit; they end with the call around them.", std::nullopt, unclosed_);
    if (n_backwards_ > 0)
      context_.report.add("time-backwards", Severity::loss,
                          "Times run backwards; those steps count as no time.", std::nullopt, n_backwards_);
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  bool started_ = false, has_format_ = false, any_time_ = false;
  std::int64_t first_ns_ = 0, last_ns_ = 0, last_bytes_ = 0;
  std::vector<Call> open_;
  TextRows function_rows_;
  std::vector<FunctionId> functions_;
  std::vector<FrameKind> kinds_;
  std::uint64_t n_calls_ = 0, n_backwards_ = 0, unclosed_ = 0;
  Counter malformed_, unmatched_;
};

// The table of xdebug.trace_format=2.
bool is_page(std::string_view line) {
  return line.starts_with("<table") && line.find("class='xdebug-trace'") != std::string_view::npos;
}

class XdebugTraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"xdebug-trace", "Xdebug function trace", kExtensions, 760, "Xdebug", 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    LineReader lines(sniff_text(prefix));
    std::string_view line;
    for (int i = 0; i < 4 && lines.next(line); ++i) {
      if (is_page(line)) return Confidence::certain;
      if (line.starts_with(kStart)) return Confidence::certain;
      if (!line.starts_with("Version: ") && !line.starts_with("File format: ")) return Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    if (is_page(first_line(text.text)))
      return fail(ErrorCode::unsupported,
                  "this trace is a page for people to read; record with xdebug.trace_format=1");
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_xdebug_trace_reader() {
  return std::make_unique<XdebugTraceReader>();
}

}  // namespace profd
