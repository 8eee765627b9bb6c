// Recordings of Safari's Web Inspector (Timelines, Export).
// docs/formats/safari.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/file_url.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{"-recording.json", ".json"};
constexpr ReaderNotes kNotes{
    .versions = "Web Inspector exports with samples, as of Safari 13",
    .keeps =
        "samples and durations with times, functions with file and line, place of the expression; no other "
        "timelines",
    .recording = "in Web Inspector: Timelines, record with JavaScript & Events, Export",
    .verified = "speedscope's snapshot of one corpus file: total, top functions",
};

// Seconds in nanoseconds; 0 for what is no number.
std::int64_t seconds(JsonCursor& in, std::uint64_t& n_rounded) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const std::uint64_t at = in.offset();
  const JsonNumber number = in.number();
  std::int64_t ns = 0;
  if (!in.ok() || scaled_decimal(number.text, 9, ns)) return ns;
  const double rounded = std::round(number.value * 1e9);
  if (!(std::abs(rounded) < 9.2e18)) {
    in.fail_at(at, ErrorCode::malformed, "the time is out of range");
    return 0;
  }
  ++n_rounded;
  return static_cast<std::int64_t>(rounded);
}

std::uint32_t place(JsonCursor& in) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const JsonNumber number = in.number();
  return number.is_integer && number.integer > 0 && number.integer < kNone
             ? static_cast<std::uint32_t>(number.integer)
             : 0;
}

class Recording {
 public:
  Recording(const DecodedText& text, ReadContext& context)
      : context_(context), in_(text.text, context.limits.nesting, text.offset) {}

  Result<void> read(std::vector<ProfileBuilder>& profiles) {
    std::string_view key;
    bool found = false;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "recording" && in_.kind() == JsonKind::object) {
        found = true;
        for (in_.begin_object(); in_.next_key(key);) member(key);
      } else {
        in_.skip();
      }
    }
    PROFD_CHECK(in_.finish());
    if (!found) return fail(ErrorCode::malformed, "the object has no recording");
    if (contexts_.empty())
      return fail(ErrorCode::malformed,
                  "the recording has no samples of scripts: record with JavaScript & Events on");
    add();
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  void member(std::string_view key) {
    const JsonKind kind = in_.kind();
    ProfileInfo& info = builder_.info();
    if (key == "displayName" && kind == JsonKind::string) {
      info.name = in_.string();
    } else if (key == "startTime" && kind == JsonKind::number) {
      start_ = seconds(in_, n_rounded_);
    } else if (key == "endTime" && kind == JsonKind::number) {
      end_ = seconds(in_, n_rounded_);
    } else if (key == "records" && kind == JsonKind::array) {
      for (in_.begin_array(); in_.next_element(); ++n_records_) in_.skip();
    } else if (key == "markers" && kind == JsonKind::array) {
      for (in_.begin_array(); in_.next_element(); ++n_records_) in_.skip();
    } else if (key == "sampleDurations" && kind == JsonKind::array) {
      durations_.clear();
      for (in_.begin_array(); in_.next_element();) durations_.push_back(seconds(in_, n_rounded_));
    } else if (key == "sampleStackTraces" && kind == JsonKind::array) {
      samples();
    } else {
      in_.skip();
    }
  }

  void samples() {
    std::string_view key;
    std::vector<FrameId> leaf_first;
    times_.clear();
    contexts_.clear();
    for (in_.begin_array(); in_.next_element();) {
      std::int64_t time = 0;
      leaf_first.clear();
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "timestamp") {
          time = seconds(in_, n_rounded_);
        } else if (key == "stackFrames" && in_.kind() == JsonKind::array) {
          for (in_.begin_array(); in_.next_element();) leaf_first.push_back(frame());
        } else {
          in_.skip();
        }
      }
      if (!in_.ok() || context_.stop.check()) return;
      times_.push_back(time);
      contexts_.push_back(builder_.context_of(std::vector<FrameId>(leaf_first.rbegin(), leaf_first.rend())));
    }
  }

  // `line` is where the function begins, `expressionLocation` where it stood; both count from 1.
  FrameId frame() {
    FunctionSpec function;
    FrameSpec spec;
    StringId name{0u};
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (key == "name" && kind == JsonKind::string) {
        name = builder_.string(in_.string());
      } else if (key == "url" && kind == JsonKind::string) {
        const std::string_view url = in_.string();
        function.file =
            url.starts_with("file:") ? builder_.string(path_from_file_url(url)) : builder_.string(url);
      } else if (key == "line") {
        function.start_line = place(in_);
      } else if (key == "expressionLocation" && kind == JsonKind::object) {
        for (in_.begin_object(); in_.next_key(key);) {
          if (key == "line")
            spec.line = place(in_);
          else if (key == "column")
            spec.column = place(in_);
          else
            in_.skip();
        }
      } else {
        in_.skip();
      }
    }
    function.name = name.v == 0 ? builder_.string("(anonymous)") : name;
    spec.function = builder_.function(function);
    spec.kind = function.file.v == 0 ? FrameKind::native : FrameKind::jit;
    return builder_.frame(spec);
  }

  void add() {
    builder_.add_metric("samples", "count");
    const bool timed = !durations_.empty();
    if (timed) builder_.set_default_metric(builder_.add_metric("time", "nanoseconds"));
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      const std::int64_t length = i < durations_.size() ? durations_[i] : 0;
      // The timestamp is that of the end.
      std::int64_t since = 0;
      SampleContext where;
      if (!__builtin_sub_overflow(times_[i], length, &since) &&
          !__builtin_sub_overflow(since, start_, &since))
        where.time = since;
      const std::array<std::int64_t, 2> values{1, length};
      builder_.add_sample(contexts_[i], std::span(values).first(timed ? 2 : 1), where);
    }
    ImportReport& report = context_.report;
    if (timed && durations_.size() != contexts_.size())
      report.add("sample-without-duration", Severity::loss, "There are not as many durations as samples.",
                 std::nullopt,
                 durations_.size() > contexts_.size() ? durations_.size() - contexts_.size()
                                                      : contexts_.size() - durations_.size());
    if (!timed)
      report.add("no-durations", Severity::info, "The recording has no durations; only samples are counted.");
    if (n_records_ > 0)
      report.add("record", Severity::loss,
                 "Records of the timelines (network, layout, CPU usage, …) are not read.", std::nullopt,
                 n_records_);
    if (n_rounded_ > 0)
      report.add("rounded-time", Severity::info, "Times were rounded to whole nanoseconds.", std::nullopt,
                 n_rounded_);
    if (in_.n_repaired() > 0)
      report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.", std::nullopt,
                 in_.n_repaired());
    ProfileInfo& info = builder_.info();
    info.format = "safari";
    info.producer = "Safari Web Inspector";
    std::int64_t duration = 0;
    if (end_ && !__builtin_sub_overflow(*end_, start_, &duration) && duration > 0)
      info.duration_ns = duration;
  }

  ReadContext& context_;
  JsonCursor in_;
  ProfileBuilder builder_;
  std::int64_t start_ = 0;
  std::optional<std::int64_t> end_;
  std::vector<std::int64_t> times_, durations_;
  std::vector<ContextId> contexts_;
  std::uint64_t n_records_ = 0, n_rounded_ = 0;
};

class SafariReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "safari", "Safari Web Inspector recording", kExtensions, 414, "Safari, WebKit", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    const JsonKey* recording = keys.find("recording");
    if (keys.kind() != JsonKind::object || recording == nullptr || recording->kind != JsonKind::object)
      return Confidence::no;
    const JsonKeys inside = json_keys(recording->value);
    if (inside.find("sampleStackTraces") != nullptr || inside.find("instrumentTypes") != nullptr)
      return Confidence::certain;
    return inside.find("discontinuities") != nullptr && inside.find("records") != nullptr
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    return Recording(decoded, context).read(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_safari_reader() {
  return std::make_unique<SafariReader>();
}

}  // namespace profd
