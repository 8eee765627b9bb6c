// Rprof, the sampling profiler of R: a line of settings, then a line for every sample.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/each_line.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".Rprof", "Rprof.out"};
constexpr ReaderNotes kNotes{
    .versions = "of R 2.14 and later, with lines, memory and the collector or without",
    .keeps = "samples, time, files and lines where they were recorded, growth of memory, copies",
    .recording = "Rprof(\"app.Rprof\", line.profiling = TRUE); main(); Rprof(NULL)",
    .verified = "against summaryRprof of R 4: samples and time by function and by line, memory",
};
constexpr std::string_view kInterval = "sample.interval=";
constexpr std::int64_t kLongestUs = std::int64_t{1} << 40;
constexpr std::int64_t kMostCells = std::int64_t{1} << 52;  // of eight bytes: 63 bits still
constexpr std::size_t kNCounts = 4;  // cells in small vectors, in large ones, bytes in nodes, copies

struct Settings {
  bool memory = false;
  std::int64_t interval_us = 0;
};

// "memory profiling: GC profiling: line profiling: sample.interval=20000"
bool parse_settings(std::string_view line, Settings& out) {
  out = {};
  for (const std::string_view what : {"memory profiling: ", "GC profiling: ", "line profiling: "}) {
    if (!line.starts_with(what)) continue;
    out.memory |= what.front() == 'm';
    line.remove_prefix(what.size());
  }
  return line.starts_with(kInterval) && parse_int(line.substr(kInterval.size()), out.interval_us);
}

class RprofReading {
 public:
  RprofReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : source_(source), context_(context), builder_(builder) {}

  Result<void> run() {
    const DecodedText text = decode_text(source_);
    offset_ = text.offset;
    LineReader lines(text.text);
    std::string_view line;
    if (!lines.next(line) || !parse_settings(line, settings_))
      return fail(ErrorCode::malformed, "the first line does not end with sample.interval= and microseconds",
                  offset_);
    PROFD_CHECK(check_interval(offset_));
    declare();
    PROFD_CHECK(each_line(lines, context_, {}, [&](std::string_view next) {
      const std::uint64_t at = lines.offset() + offset_;
      return lines.ended() ? read_line(next, at) : cut_line(at);
    }));
    report();
    return {};
  }

 private:
  // R ends every line: one without its end may lack the outer half of its stack.
  Result<void> cut_line(std::uint64_t at) {
    if (!context_.partial && !source_.truncated())
      return fail(ErrorCode::truncated, "the last line has no end: the file was cut off", at);
    context_.report.add("truncated", Severity::loss, "The last line has no end and was left out.", at);
    return {};
  }

  Result<void> check_interval(std::uint64_t at) const {
    if (settings_.interval_us > 0 && settings_.interval_us < kLongestUs) return {};
    return fail(ErrorCode::malformed, fmt::format("an interval of {} microseconds", settings_.interval_us),
                at);
  }

  void declare() {
    ProfileInfo& info = builder_.info();
    info.producer = "Rprof";
    info.period = settings_.interval_us * 1000;
    info.period_type = "time";
    info.period_unit = "nanoseconds";
    builder_.add_metric("samples", "count");
    builder_.add_metric("time", "nanoseconds");
    if (!settings_.memory) return;
    builder_.add_metric("memory_growth", "bytes");
    builder_.add_metric("duplications", "count");
  }

  Result<void> read_line(std::string_view line, std::uint64_t at) {
    if (line.find_first_not_of(' ') == std::string_view::npos) return {};
    if (line.front() == '#') return read_file(line, at);
    Settings again;
    if (line.front() != '"' && parse_settings(line, again)) {
      // Rprof(append = TRUE).
      settings_.interval_us = again.interval_us;
      ++n_appended_;
      counted_ = false;
      files_.clear();
      forget_stacks();
      return check_interval(at);
    }
    std::array<std::int64_t, 4> values{1, settings_.interval_us * 1000, 0, 0};
    if (line.front() == ':') PROFD_CHECK(read_counts(line, at, values));
    const std::uint32_t row = stacks_.row(line);
    if (row == contexts_.size()) {
      PROFD_TRY(const ContextId context, stack_of(line, at));
      contexts_.push_back(context);
    }
    if (contexts_[row] == kRootContext) ++n_empty_;
    ++n_samples_;
    builder_.add_sample(contexts_[row], std::span<const std::int64_t>(values).first(builder_.n_metrics()));
    return {};
  }

  // "#File 1: demo.R"
  Result<void> read_file(std::string_view line, std::uint64_t at) {
    constexpr std::string_view kFile = "#File ";
    const std::size_t colon = line.find(": ");
    std::int64_t number = 0;
    if (!line.starts_with(kFile) || colon == std::string_view::npos ||
        !parse_int(line.substr(kFile.size(), colon - kFile.size()), number))
      return fail(ErrorCode::malformed, "a line with # names no file by its number", at);
    const auto [found, is_new] = files_.try_emplace(number, builder_.string(line.substr(colon + 2)));
    if (!is_new) {
      found->second = builder_.string(line.substr(colon + 2));
      forget_stacks();
    }
    return {};
  }
  // What the same text means depends on the files that have been named.
  void forget_stacks() {
    stacks_ = {};
    contexts_.clear();
  }

  // ":508890:2694477:37110696:7:" in front of the stack. Memory is what was in use: only what it grew by
  // since the sample before belongs to a stack.
  Result<void> read_counts(std::string_view& line, std::uint64_t at, std::array<std::int64_t, 4>& values) {
    std::array<std::int64_t, kNCounts> counts{};
    for (std::int64_t& count : counts) {
      const std::size_t end = line.find(':', 1);
      if (end == std::string_view::npos || !parse_int(line.substr(1, end - 1), count) || count < 0 ||
          count > kMostCells)
        return fail(ErrorCode::malformed, "what stands in front of a stack is no four numbers", at);
      line.remove_prefix(end);
    }
    line.remove_prefix(1);
    if (builder_.n_metrics() < values.size()) {
      ++n_undeclared_;
      return {};
    }
    if (counted_) {
      const auto grown = [&](std::size_t i) { return std::max<std::int64_t>(counts[i] - before_[i], 0); };
      values[2] = grown(0) * 8 + grown(1) * 8 + grown(2);
    }
    values[3] = counts[3];
    before_ = counts;
    counted_ = true;
    return {};
  }

  // "\"paste0\" 1#4 \"rows\" 1#8 \"main\" ": leaf first; a place is one in the function at its right.
  Result<ContextId> stack_of(std::string_view line, std::uint64_t at) {
    frames_.clear();
    StringId file{0u};
    std::uint32_t number = 0;
    while (!line.empty()) {
      if (line.front() == ' ') {
        line.remove_prefix(1);
        continue;
      }
      if (line.front() == '"') {
        std::size_t end = line.find("\" ", 1);
        if (end == std::string_view::npos && line.size() > 1 && line.back() == '"') end = line.size() - 1;
        if (end == std::string_view::npos)
          return fail(ErrorCode::malformed, "the name of a function has no end", at);
        frames_.push_back(frame_of(line.substr(1, end - 1), file, number));
        line.remove_prefix(end + 1);
        file = StringId{0u}, number = 0;
      } else {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (number != 0) frames_.push_back(top_level(file, number));
        PROFD_CHECK(parse_place(line.substr(0, end), at, file, number));
        line.remove_prefix(end);
      }
      if (frames_.size() > context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            at);
    }
    if (number != 0) frames_.push_back(top_level(file, number));
    std::reverse(frames_.begin(), frames_.end());
    return builder_.context_of(frames_);
  }

  // "1#4": file and line.
  Result<void> parse_place(std::string_view text, std::uint64_t at, StringId& file, std::uint32_t& number) {
    const std::size_t hash = text.find('#');
    std::int64_t id = 0, line = 0;
    if (hash == std::string_view::npos || !parse_int(text.substr(0, hash), id) ||
        !parse_int(text.substr(hash + 1), line) || line <= 0 || line >= kNone)
      return fail(ErrorCode::malformed, "a stack has something that is neither a name nor a place", at);
    const auto found = files_.find(id);
    if (found == files_.end())
      return fail(ErrorCode::malformed, fmt::format("a stack is in file {}, which has no name", id), at);
    file = found->second;
    number = static_cast<std::uint32_t>(line);
    return {};
  }

  // The same function may be known with a place and without, so that the place is the frame's alone.
  FrameId frame_of(std::string_view name, StringId file, std::uint32_t line) {
    FrameSpec frame;
    frame.function = builder_.function(name.empty() ? std::string_view("(unnamed)") : name);
    frame.kind = name == "<GC>" ? FrameKind::gc : FrameKind::interpreted;
    frame.file = file;
    frame.line = line;
    return builder_.frame(frame);
  }
  FrameId top_level(StringId file, std::uint32_t line) { return frame_of("(top level)", file, line); }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("empty-stack", Severity::info, "Samples were taken outside of any function.", n_empty_);
    row("appended", Severity::info, "The file was appended to: it holds several recordings.", n_appended_);
    row("undeclared-memory", Severity::loss,
        "Samples have memory, of which the first line says nothing; it was not read.", n_undeclared_);
    if (n_samples_ == 0) context_.report.add("no-samples", Severity::info, "The file has no samples.");
  }

  const ByteSource& source_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::uint64_t offset_ = 0;
  Settings settings_;
  std::unordered_map<std::int64_t, StringId> files_;
  TextRows stacks_;
  std::vector<ContextId> contexts_;  // by row of stacks_
  std::vector<FrameId> frames_;
  std::array<std::int64_t, kNCounts> before_{};
  bool counted_ = false;
  std::uint64_t n_samples_ = 0, n_empty_ = 0, n_appended_ = 0, n_undeclared_ = 0;
};

class RprofReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"rprof", "Rprof samples", kExtensions, 510, "R: Rprof, profvis", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    Settings settings;
    return parse_settings(first_line(sniff_text(prefix)), settings) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    return RprofReading(source, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_rprof_reader() {
  return std::make_unique<RprofReader>();
}

}  // namespace profd
