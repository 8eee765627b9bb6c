// Lines of JSON (`--jsonl`): texts, places, and how often each was seen on top of a stack or anywhere on one.
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_source.h"
#include "formats/tachyon/forms.h"

namespace profd::tachyon {
namespace {

struct Row {
  std::int64_t frame = -1, self = 0, cumulative = 0;
};
struct PlaceRow {
  std::int64_t file = -1, function = -1, line = -1, column = -1;
};

class AggregatesReading {
 public:
  AggregatesReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    const DecodedText text = decode_text(source_);
    LineReader lines(text.text);
    for (std::string_view line; lines.next(line);) {
      PROFD_CHECK(context_.stop.status());
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      JsonCursor in(line, context_.limits.nesting, lines.offset() + text.offset);
      auto read = read_line(in);
      if (!read) {
        const bool cut = read.error().code == ErrorCode::truncated && !lines.ended();
        if (!cut || !(context_.partial || source_.truncated())) return read;
        break;
      }
      n_repaired_ += in.n_repaired();
    }
    if (!ended_) {
      if (!context_.partial && !source_.truncated())
        return fail(ErrorCode::truncated, "there is no line of type end: the file was cut off", lines.size());
      context_.report.add("truncated", Severity::loss, "The file was cut off before its end.", lines.size());
    }
    return build();
  }

 private:
  Result<void> read_line(JsonCursor& in) {
    // The type may stand behind what it decides about.
    JsonCursor ahead = in;
    std::string type;
    std::string_view key;
    for (ahead.begin_object(); ahead.next_key(key);) {
      if (key == "type")
        type = ahead.string();
      else
        ahead.skip();
    }
    PROFD_CHECK(ahead.finish());
    for (in.begin_object(); in.next_key(key);) {
      if (type == "meta" && key == "sample_interval_usec")
        interval_us_ = in.integer();
      else if (type == "meta" && key == "mode")
        builder_.info().properties.emplace_back("mode", in.string());
      else if (type == "string_table" && key == "strings")
        read_strings(in);
      else if (type == "frame_table" && key == "frames")
        read_frames(in);
      else if (type == "agg" && key == "entries")
        read_entries(in);
      else if (type == "agg" && key == "kind")
        other_kind_ |= in.string() != "frame";
      else if (type == "end" && key == "samples_total")
        n_samples_ = in.integer();
      else
        in.skip();
    }
    PROFD_CHECK(in.finish());
    ended_ |= type == "end";
    if (type != "meta" && type != "string_table" && type != "frame_table" && type != "agg" && type != "end")
      context_.report.add("unknown-line", Severity::loss, "Lines of types that are not known were not read.",
                          in.offset());
    if (other_kind_)
      return fail(ErrorCode::unsupported, "sums of something else than frames are not read", in.offset());
    return {};
  }

  void read_strings(JsonCursor& in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      std::int64_t id = -1;
      std::string value;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "str_id")
          id = in.integer();
        else if (key == "value")
          value = in.string();
        else
          in.skip();
      }
      if (in.ok()) texts_[id] = std::move(value);
    }
  }

  void read_frames(JsonCursor& in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      std::int64_t id = -1;
      PlaceRow place;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "frame_id")
          id = in.integer();
        else if (key == "path_str_id")
          place.file = in.integer();
        else if (key == "func_str_id")
          place.function = in.integer();
        else if (key == "line")
          place.line = number_or_none(in);
        else if (key == "col")
          place.column = number_or_none(in);
        else
          in.skip();
      }
      if (in.ok()) places_[id] = place;
    }
  }

  static std::int64_t number_or_none(JsonCursor& in) {
    if (in.kind() != JsonKind::null) return in.integer();
    in.skip();
    return -1;
  }

  void read_entries(JsonCursor& in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      const std::uint64_t at = in.offset();
      Row row;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "frame_id")
          row.frame = in.integer();
        else if (key == "self")
          row.self = in.integer();
        else if (key == "cumulative")
          row.cumulative = in.integer();
        else
          in.skip();
      }
      if (!in.ok()) return;
      if (row.self < 0 || row.cumulative < row.self)
        in.fail_at(at, ErrorCode::malformed, "a place was seen less often than on top of a stack");
      else
        rows_.push_back(row);
    }
  }

  Result<void> build() {
    builder_.info().producer = "profiling.sampling";
    std::vector<MetricId> metrics{builder_.add_metric("samples", "count")};
    const bool timed = interval_us_ > 0 && interval_us_ < (std::int64_t{1} << 52);
    if (timed) {
      metrics.push_back(builder_.add_metric("time", "nanoseconds"));
      builder_.info().period = interval_us_ * 1000;
      builder_.info().period_type = "time";
      builder_.info().period_unit = "nanoseconds";
    }
    builder_.state_costs(metrics);
    std::int64_t n = 0;
    for (const Row& row : rows_) {
      const auto place = places_.find(row.frame);
      if (place == places_.end())
        return fail(ErrorCode::malformed, fmt::format("frame {} is summed up and not listed", row.frame));
      const auto file = texts_.find(place->second.file), function = texts_.find(place->second.function);
      if (file == texts_.end() || function == texts_.end())
        return fail(ErrorCode::malformed, fmt::format("frame {} has a text that is not listed", row.frame));
      const FrameId frame =
          make_frame({file->second, function->second, place->second.line, place->second.column}, builder_);
      const ContextId context = builder_.context(kRootContext, frame);
      const auto own = costs(row.self, timed);
      for (std::size_t i = 0; i < own.size(); ++i) builder_.add_self(context, metrics[i], own[i]);
      const auto all = costs(row.cumulative, timed);
      builder_.state_function(frame, std::vector<Value>(all.begin(), all.end()));
      add_saturating(n, row.self);
    }
    if (n_samples_ && *n_samples_ != n)
      context_.report.add("other-number-of-samples", Severity::loss,
                          fmt::format("The file counts {} samples and has {}.", *n_samples_, n));
    builder_.set_n_samples(static_cast<std::uint64_t>(n));
    if (rows_.empty()) context_.report.add("no-samples", Severity::info, "The file has no samples.");
    if (n_repaired_ > 0)
      context_.report.add("invalid-text", Severity::info, "Texts that are no UTF-8 were repaired.",
                          std::nullopt, n_repaired_);
    return {};
  }

  // By metric.
  std::span<const std::int64_t> costs(std::int64_t samples, bool timed) {
    costs_[0] = samples;
    if (timed && mul_overflows(samples, interval_us_ * 1000, costs_[1]))
      costs_[1] = std::numeric_limits<std::int64_t>::max();
    return std::span<const std::int64_t>(costs_).first(timed ? 2 : 1);
  }

  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::unordered_map<std::int64_t, PlaceRow> places_;
  std::vector<Row> rows_;
  std::int64_t interval_us_ = 0;
  std::optional<std::int64_t> n_samples_;
  std::array<std::int64_t, 2> costs_{};
  std::uint64_t n_repaired_ = 0;
  bool ended_ = false, other_kind_ = false;
};

}  // namespace

Result<void> read_aggregates(const ByteSource& source, ReadContext& context, ProfileBuilder& builder) {
  return AggregatesReading(source, context, builder).run();
}

}  // namespace profd::tachyon
