// Austin's text: one sample a line, `P<pid>;T<interpreter>:<thread>;file:function:line;… metric`.
#include <limits>

#include <fmt/format.h>

#include "formats/austin/samples.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd::austin {
namespace {

struct Counter {
  std::uint64_t n = 0;
  std::size_t first = 0;
  void add(std::size_t offset) {
    if (n++ == 0) first = offset;
  }
};

// The fields behind the last blank. In full mode three, `time,idle,memory`.
bool parse_values(std::string_view text, Mode mode, Values& out) {
  if (mode == Mode::full) {
    const std::size_t a = text.find(','), b = text.find(',', a + 1);
    if (a == std::string_view::npos || b == std::string_view::npos) return false;
    const std::string_view idle = text.substr(a + 1, b - a - 1);
    out.idle = idle == "1";
    return (idle == "0" || idle == "1") && parse_int(text.substr(0, a), out.time_us) &&
           parse_int(text.substr(b + 1), out.memory);
  }
  return parse_int(text, mode == Mode::memory ? out.memory : out.time_us);
}

class TextReading {
 public:
  TextReading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    Mode mode = survey();
    Samples samples(builder_, mode);
    samples.declare();
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {}, [&](std::string_view line) -> Result<void> {
      line = trim(line);
      if (line.empty() || line.front() == '#') return {};
      return read_sample(line, text_.offset + lines.offset(), samples);
    }));
    if (n_samples_ == 0)
      return fail(ErrorCode::malformed, "no line is a sample: P<pid>;T<thread>;… metric", 0);
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         const Counter& counter) {
      if (counter.n > 0) context_.report.add(kind, severity, message, counter.first, counter.n);
    };
    row("malformed-line", Severity::loss, "Lines that are no sample were not read.", malformed_);
    row("frame-without-line", Severity::info, "Frames are not written as file:function:line.", odd_frames_);
    row("invalid-frame", Severity::info, "Stacks have frames that Austin could not read.", invalid_);
    if (samples.n_clamped() > 0)
      context_.report.add("time-too-large", Severity::loss, "Times do not fit 64 bits and were clamped.",
                          std::nullopt, samples.n_clamped());
    return {};
  }

 private:
  // Metadata lines; when no mode is named, three comma-separated fields are what full mode writes.
  Mode survey() {
    Mode mode = Mode::unknown;
    bool triple = false, seen = false;
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with('#')) {
        const std::size_t colon = line.find(": ");
        if (colon != std::string_view::npos)
          apply_metadata(trim(line.substr(1, colon - 1)), trim(line.substr(colon + 2)), builder_.info(),
                         mode);
      } else if (!seen && line.starts_with('P')) {
        seen = true;
        Values unused;
        const std::size_t blank = line.rfind(' ');
        triple =
            blank != std::string_view::npos && parse_values(trim(line.substr(blank)), Mode::full, unused);
      }
    }
    if (mode == Mode::unknown && triple) return Mode::full;
    return mode;
  }

  Result<void> read_sample(std::string_view line, std::size_t offset, Samples& samples) {
    const std::size_t blank = line.rfind(' ');
    Values values;
    if (blank == std::string_view::npos || line.front() != 'P' ||
        !parse_values(line.substr(blank + 1), samples.mode(), values)) {
      malformed_.add(offset);
      return {};
    }
    std::string_view rest = line.substr(0, blank);
    const std::size_t end_of_pid = rest.find(';');
    if (end_of_pid == std::string_view::npos || rest.substr(end_of_pid + 1, 1) != "T") {
      malformed_.add(offset);
      return {};
    }
    const std::size_t end_of_thread = rest.find(';', end_of_pid + 1);
    const ThreadId thread = thread_of(rest.substr(0, end_of_thread));
    if (!thread.valid()) {
      malformed_.add(offset);
      return {};
    }
    rest = end_of_thread == std::string_view::npos ? std::string_view() : rest.substr(end_of_thread + 1);
    ContextId context = kRootContext;
    std::uint32_t depth = 0;
    while (!rest.empty()) {
      if (++depth > context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            offset);
      const std::size_t end = rest.find(';');
      context = builder_.context(context, frame_of(rest.substr(0, end), offset));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    SampleContext where;
    where.thread = thread;
    samples.add(context, values, where);
    ++n_samples_;
    return {};
  }

  // "P12;T0:34": the thread is a number in decimal or hexadecimal by version, so it is kept as text.
  ThreadId thread_of(std::string_view text) {
    const std::uint32_t row = thread_rows_.row(text);
    if (row < threads_.size()) return threads_[row];
    const std::size_t semicolon = text.find(';');
    std::int64_t pid = -1;
    ThreadId thread;
    if (parse_int(text.substr(1, semicolon - 1), pid))
      thread = builder_.thread({.name = text.substr(semicolon + 1), .pid = pid});
    threads_.push_back(thread);
    return thread;
  }

  FrameId frame_of(std::string_view text, std::size_t offset) {
    const std::uint32_t row = frame_rows_.row(text);
    if (row < frames_.size()) return frames_[row];
    frames_.push_back(make(text, offset));
    return frames_.back();
  }

  // file:function:line from the right; Austin 2 wrote function (file:line).
  FrameId make(std::string_view text, std::size_t offset) {
    if (text == ":GC:") return gc_frame(builder_);
    if (text == ":INVALID:") {
      invalid_.add(offset);
      return builder_.frame({.function = builder_.function(
                                 FunctionSpec{.name = builder_.string("(invalid)"), .unresolved = true}),
                             .kind = FrameKind::interpreted});
    }
    FrameSource source;
    if (text.ends_with(')')) {
      const std::size_t open = text.rfind(" (");
      const std::size_t colon = text.rfind(':');
      if (open != std::string_view::npos && colon != std::string_view::npos && colon > open &&
          parse_uint(text.substr(colon + 1, text.size() - colon - 2), source.line)) {
        source.function = text.substr(0, open);
        source.file = text.substr(open + 2, colon - open - 2);
        return make_frame(source, builder_);
      }
    }
    const std::size_t last = text.rfind(':');
    const std::size_t before =
        last == 0 || last == std::string_view::npos ? std::string_view::npos : text.rfind(':', last - 1);
    if (before == std::string_view::npos || !parse_uint(text.substr(last + 1), source.line)) {
      odd_frames_.add(offset);
      return builder_.frame({.function = builder_.function(text), .kind = FrameKind::interpreted});
    }
    source.file = text.substr(0, before);
    source.function = text.substr(before + 1, last - before - 1);
    return make_frame(source, builder_);
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows thread_rows_, frame_rows_;
  std::vector<ThreadId> threads_;
  std::vector<FrameId> frames_;
  std::uint64_t n_samples_ = 0;
  Counter malformed_, odd_frames_, invalid_;
};

}  // namespace

Result<void> read_text(const ByteSource& source, ReadContext& context, ProfileBuilder& builder) {
  const DecodedText text = decode_text(source);
  return TextReading(text, context, builder).run();
}

}  // namespace profd::austin
