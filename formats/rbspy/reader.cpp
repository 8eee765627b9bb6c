// rbspy's raw recordings, which `rbspy record` keeps of every run and `rbspy report` reads: "rbspy02\n", a
// line of JSON about the recording (from version 2 on), then a line of JSON for every sample, all of it in
// gzip. Source of the facts: rbspy 0.55, src/storage and src/core/types.rs.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/support/text.h"
#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::string_view kMagic = "rbspy";
constexpr std::uint32_t kNewest = 2;

constexpr std::array<std::string_view, 2> kExtensions{".raw.gz", ".rbspy"};
constexpr ReaderNotes kNotes{
    .versions = "raw recordings, versions 0 to 2; what rbspy exports are formats of their own",
    .keeps = "a sample for each stack: processes, threads, times, files, lines, C functions",
    .recording = "rbspy record --raw-file out.raw.gz -- ruby app.rb",
    .verified = "rbspy 0.55: stacks and counts of its own report of a recording",
};

// The version in "rbspyNN\n"; false when the text begins with something else.
bool read_version(std::string_view text, std::uint32_t& version) {
  return text.size() >= 8 && text.starts_with(kMagic) && text[7] == '\n' && text[5] >= '0' &&
         text[5] <= '9' && parse_uint(text.substr(5, 2), version);
}

// A member that may be null.
bool is_null(JsonCursor& in) {
  if (in.kind() != JsonKind::null) return false;
  in.skip();
  return true;
}

// {"secs_since_epoch":1,"nanos_since_epoch":2}
std::optional<std::int64_t> read_time(JsonCursor& in) {
  if (is_null(in)) return {};
  std::int64_t seconds = 0, nanos = 0;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "secs_since_epoch")
      seconds = in.integer();
    else if (key == "nanos_since_epoch")
      nanos = in.integer();
    else
      in.skip();
  }
  std::int64_t time = 0;
  if (mul_overflows(seconds, std::int64_t{1'000'000'000}, time) || __builtin_add_overflow(time, nanos, &time))
    return {};
  return time;
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder) {}

  Result<void> run() {
    std::uint32_t version = 0;
    if (!read_version(text_.text, version))
      return fail(ErrorCode::malformed, "the file does not begin with rbspy's mark and version",
                  text_.offset);
    if (version > kNewest)
      return fail(ErrorCode::unsupported,
                  fmt::format("version {} of rbspy's recordings is not known; the newest known is {}",
                              version, kNewest),
                  text_.offset);
    builder_.info().producer = "rbspy";
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text, 8);
    std::string_view header;
    if (version == 2 && lines.next(header)) PROFD_CHECK(read_header(header, text_.offset + lines.offset()));
    PROFD_CHECK(
        each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) -> Result<void> {
          if (trim(line).empty()) return {};
          return read_sample(line, text_.offset + lines.offset());
        }));
    empty_.report(context_.report, "empty-stack", Severity::info, "samples without a stack were left out");
    if (n_repaired_ > 0)
      context_.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                          std::nullopt, n_repaired_);
    if (n_samples_ == 0) context_.report.add("no-samples", Severity::info, "The recording has no samples.");
    return {};
  }

 private:
  Result<void> read_header(std::string_view line, std::uint64_t offset) {
    JsonCursor in(line, context_.limits.nesting, offset);
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      ProfileInfo& info = builder_.info();
      if (is_null(in)) continue;
      if (key == "sample_rate") {
        const std::int64_t rate = in.integer();
        if (rate <= 0) continue;
        info.period = 1'000'000'000 / rate;
        info.period_type = "wall";
        info.period_unit = "nanoseconds";
      } else if (key == "rbspy_version") {
        info.properties.emplace_back("rbspy_version", in.string());
      } else if (key == "start_time") {
        info.time_ns = read_time(in);
      } else {
        in.skip();
      }
    }
    return in.finish();
  }

  Result<void> read_sample(std::string_view line, std::uint64_t offset) {
    JsonCursor in(line, context_.limits.nesting, offset);
    ThreadSpec thread;
    SampleContext where;
    std::optional<ContextId> context;
    std::optional<bool> on_cpu;
    if (in.kind() == JsonKind::array) {
      PROFD_TRY(context, read_trace(in, line, offset));  // version 0 has nothing else
    } else {
      std::string_view key;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "trace") {
          PROFD_TRY(context, read_trace(in, line, offset));
        } else if (is_null(in)) {
          continue;
        } else if (key == "pid") {
          thread.pid = in.integer();
        } else if (key == "thread_id") {
          thread.tid = in.integer();
        } else if (key == "time") {
          where.time = read_time(in);
        } else if (key == "on_cpu") {
          on_cpu = in.boolean();
        } else {
          in.skip();
        }
      }
    }
    PROFD_CHECK(in.finish());
    n_repaired_ += in.n_repaired();
    if (!context || *context == kRootContext) {
      empty_.count(offset);
      return {};
    }
    if (where.time) {
      // Recordings without a header begin with their first sample.
      std::optional<std::int64_t>& start = builder_.info().time_ns;
      if (!start) start = where.time;
      std::int64_t since = 0;
      where.time = __builtin_sub_overflow(*where.time, *start, &since) ? std::nullopt : std::optional(since);
    }
    if (thread.pid >= 0 || thread.tid >= 0) where.thread = builder_.thread(thread);
    if (on_cpu) {
      const Label label{.key = builder_.string("on_cpu"), .text = builder_.string(*on_cpu ? "yes" : "no")};
      where.labels = builder_.label_set(std::span(&label, 1));
    }
    const std::int64_t one = 1;
    builder_.add_sample(*context, std::span(&one, 1), where);
    ++n_samples_;
    return {};
  }

  // Leaf first. Most samples repeat a stack, and stacks repeat frames, letter for letter.
  Result<ContextId> read_trace(JsonCursor& in, std::string_view line, std::uint64_t offset) {
    const auto piece_of_value = [&](JsonCursor at) {
      const std::size_t begin = static_cast<std::size_t>(at.offset() - offset);
      at.skip();
      return std::pair(at, trim(line.substr(begin, static_cast<std::size_t>(at.offset() - offset) - begin)));
    };
    if (in.kind() != JsonKind::array) {
      in.begin_array();  // says what stands there instead
      PROFD_CHECK(in.status());
    }
    const auto [behind, trace] = piece_of_value(in);
    PROFD_CHECK(behind.status());
    const std::uint32_t row = traces_.row(trace);
    if (row < contexts_.size()) {
      in = behind;
      return contexts_[row];
    }
    stack_.clear();
    for (in.begin_array(); in.next_element();) {
      if (stack_.size() >= context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            in.offset());
      const auto [behind_frame, frame] = piece_of_value(in);
      PROFD_CHECK(behind_frame.status());
      const std::uint32_t at = frame_texts_.row(frame);
      if (at == frames_.size())
        frames_.push_back(read_frame(in));
      else
        in = behind_frame;
      PROFD_CHECK(in.status());
      stack_.push_back(frames_[at]);
    }
    PROFD_CHECK(in.status());
    std::reverse(stack_.begin(), stack_.end());
    contexts_.push_back(builder_.context_of(stack_));
    return contexts_.back();
  }

  FrameId read_frame(JsonCursor& in) {
    std::string name, relative, absolute;
    std::int64_t line = 0;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (is_null(in)) continue;
      if (key == "name")
        name = in.string();
      else if (key == "relative_path")
        relative = in.string();
      else if (key == "absolute_path")
        absolute = in.string();
      else if (key == "lineno")
        line = in.integer();
      else
        in.skip();
    }
    FrameSpec spec;
    std::string_view shown = name;
    constexpr std::string_view kNative = " [c function]";
    const bool native = shown.ends_with(kNative);
    if (native) shown.remove_suffix(kNative.size());
    if (shown.empty()) shown = "(empty)";
    std::string_view file = absolute.empty() ? relative : absolute;
    if (file == "(unknown)" || file == "unknown") file = {};
    spec.function = builder_.function(FunctionSpec{
        .name = builder_.string(shown), .file = builder_.string(file), .unresolved = shown == "(unknown)"});
    if (line > 0 && line <= UINT32_MAX && !file.empty()) spec.line = static_cast<std::uint32_t>(line);
    spec.kind = native ? FrameKind::native : FrameKind::interpreted;
    return builder_.frame(spec);
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows traces_, frame_texts_;
  std::vector<ContextId> contexts_;  // by row of traces_
  std::vector<FrameId> frames_;      // by row of frame_texts_
  std::vector<FrameId> stack_;
  OddLines empty_;
  std::uint64_t n_samples_ = 0, n_repaired_ = 0;
};

class RbspyReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"rbspy", "rbspy recording", kExtensions, 45, "rbspy record", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    std::uint32_t version = 0;
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                                std::min<std::size_t>(prefix.size(), 8));
    return read_version(text, version) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_rbspy_reader() {
  return std::make_unique<RbspyReader>();
}

}  // namespace profd
