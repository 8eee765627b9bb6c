// cachegrind's profiles: costs by file, function and line, no calls. docs/formats/cachegrind.md.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".cachegrind"};
constexpr ReaderNotes kNotes{
    .versions = "Valgrind's, before and since 3.21",
    .keeps = "every event by line of every function; the format knows no calls",
    .recording = "valgrind --tool=cachegrind --cache-sim=yes ./app",
    .verified = "cg_annotate 3.19: total, top functions; the summary line of every file",
};

std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// The value of a "key: value" or "key=value" line.
bool value_of(std::string_view line, std::string_view key, std::string_view& value) {
  if (!line.starts_with(key)) return false;
  value = trim(line.substr(key.size()));
  return true;
}

// Nothing but header lines, then fl=, fn= and lines of numbers.
Confidence look(std::string_view text, bool whole) {
  bool desc = false, command = false, events = false, costs = false, file = false, function = false;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if ((!lines.ended() && !whole) || (costs && lines.offset() > 4096)) break;
    const std::string_view part = trim(line);
    if (part.empty() || part.front() == '#') continue;
    if (part.starts_with("desc:")) {
      desc = true;
    } else if (part.starts_with("cmd:")) {
      command = true;
    } else if (part.starts_with("events:")) {
      events = true;
    } else if (part.starts_with("fl=") || part.starts_with("fi=") || part.starts_with("fe=")) {
      if (!events || part.substr(3).starts_with("(1)")) return Confidence::no;
      file = true;
    } else if (part.starts_with("fn=")) {
      if (!file) return Confidence::no;
      function = true;
    } else if (part.front() >= '0' && part.front() <= '9') {
      if (!function || part.find_first_not_of("0123456789. \t") != std::string_view::npos)
        return Confidence::no;
      costs = true;
    } else if (!part.starts_with("summary:") || !events) {
      return Confidence::no;
    }
  }
  if (!costs) return Confidence::no;
  return desc && command ? Confidence::certain : Confidence::maybe;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {}, [&](std::string_view line) -> Result<void> {
      offset_ = text_.offset + lines.offset();
      line = trim(line);
      if (line.empty() || line.front() == '#') return {};
      return line.front() >= '0' && line.front() <= '9' ? read_costs(line) : read_name(line);
    }));
    if (totals_.empty())
      return fail(ErrorCode::malformed, "no line names the events that were counted", offset_);
    if (!has_summary_) {
      if (!context_.partial)
        return fail(ErrorCode::truncated,
                    "the file ends before its summary: cachegrind was stopped while writing", offset_);
      context_.report.add("truncated", Severity::loss,
                          "the file ends before its summary; functions may be missing", offset_);
    }
    builder_.set_n_samples(0);
    return {};
  }

 private:
  Result<void> bad(const char* what) {
    if (!context_.partial) return fail(ErrorCode::malformed, what, offset_);
    context_.report.add("malformed-line", Severity::loss, "lines that could not be read were left out",
                        offset_);
    return {};
  }

  Result<void> read_name(std::string_view line) {
    std::string_view value;
    ProfileInfo& info = builder_.info();
    if (value_of(line, "fl=", value) || value_of(line, "fi=", value) || value_of(line, "fe=", value)) {
      file_ = value == "???" ? StringId{0u} : builder_.string(value);
      if (!line.starts_with("fl=") && name_.valid()) set_function();
    } else if (value_of(line, "fn=", value)) {
      name_ = builder_.string(value);
      set_function();
    } else if (value_of(line, "desc:", value)) {
      if (info.comments.size() < 1000) info.comments.emplace_back(value);
    } else if (value_of(line, "cmd:", value)) {
      info.program = value.substr(0, value.find(' '));
      info.properties.emplace_back("cmd", value);
    } else if (value_of(line, "events:", value)) {
      if (!totals_.empty()) return fail(ErrorCode::malformed, "the events are named twice", offset_);
      while (!trim(value).empty() && totals_.size() < 1000) {
        builder_.add_metric(take_word(value), "count");
        totals_.push_back(0);
      }
      row_.resize(totals_.size());
    } else if (value_of(line, "summary:", value)) {
      has_summary_ = true;
      for (const std::int64_t total : totals_) {
        std::int64_t stated = 0;
        if (parse_int(take_word(value), stated) && stated != total)
          context_.report.add("totals-differ", Severity::loss,
                              "the costs do not sum to the summary of the file", offset_);
      }
    } else {
      context_.report.add("unknown-line", Severity::loss, "lines of an unknown kind were not read", offset_);
    }
    return {};
  }

  // cg_annotate, too, tells functions apart by file and name.
  void set_function() {
    function_ =
        builder_.function({.name = name_, .file = file_, .unresolved = builder_.text(name_) == "???"});
  }

  Result<void> read_costs(std::string_view line) {
    if (totals_.empty())
      return fail(ErrorCode::malformed, "costs stand before the line that names the events", offset_);
    if (!function_.valid())
      return fail(ErrorCode::malformed, "costs stand before the first function", offset_);
    FrameSpec frame;
    frame.function = function_;
    if (!parse_uint(take_word(line), frame.line) || frame.line == kNone)
      return bad("a line number is no number");
    std::fill(row_.begin(), row_.end(), 0);
    for (std::int64_t& cost : row_) {
      const std::string_view word = take_word(line);
      // Zeros at the end are left out since 3.21; old versions write a dot.
      if (word.empty()) break;
      if (word != "." && (!parse_int(word, cost) || cost < 0)) return bad("a cost is no number");
    }
    if (!trim(line).empty())
      context_.report.add("extra-cost", Severity::loss, "lines have more costs than there are events",
                          offset_);
    const ContextId at = builder_.context(kRootContext, builder_.frame(frame));
    for (std::size_t m = 0; m < row_.size(); ++m) {
      if (row_[m] == 0) continue;
      builder_.add_self(at, MetricId{m}, row_[m]);
      add_saturating(totals_[m], row_[m]);
    }
    return {};
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<std::int64_t> totals_, row_;
  StringId file_{0u}, name_;
  FunctionId function_;
  bool has_summary_ = false;
  std::uint64_t offset_ = 0;
};

class CachegrindReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "cachegrind", "cachegrind costs by line", kExtensions, 710, "valgrind --tool=cachegrind", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text = sniff_text(prefix);
    return look(text, at_end);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_cachegrind_reader() {
  return std::make_unique<CachegrindReader>();
}

}  // namespace profd
