// Call trees of macOS: sample(1), `    + ! 12 function  (in module) + 34  [0x1234]`, where the count stands
// below its caller two columns to the right and holds its callees; and spindump(8), `  12  function + 34
// (module + 56) [0x1234]`.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include "core/support/text.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".sample.txt", ".spindump.txt"};
constexpr ReaderNotes kNotes{
    .versions = "sample(1), Activity Monitor's samples, spindump(8)",
    .keeps = "samples by call path, threads, queues, modules, addresses, files and lines",
    .recording = "sample demo 10 1 -file out.sample.txt",
    .verified = "inferno on one corpus file, and the sum of its threads; spindump: only a hand-made file",
};

struct Row {
  std::size_t column = 0;  // where the count stands
  std::int64_t count = 0;
  bool kernel = false;  // spindump marks kernel frames with a star
  std::string_view rest;
};

// "    + ! 12 rest": guides, a count, the rest.
bool parse_row(std::string_view line, Row& row) {
  std::size_t at = 0;
  while (at < line.size() && std::string_view(" +!:|*").find(line[at]) != std::string_view::npos) ++at;
  const std::size_t end = std::min(line.find_first_not_of("0123456789", at), line.size());
  if (end == at || end == line.size() || line[end] != ' ' || !parse_int(line.substr(at, end - at), row.count))
    return false;
  row.column = at;
  row.kernel = at > 0 && line[at - 1] == '*';
  row.rest = trim(line.substr(end));
  return !row.rest.empty();
}

struct Place {
  std::string_view function, module, file;
  std::uint64_t address = 0;
  std::uint32_t line = 0;
};

// "function  (in module) + 34  [0x1234,0x1240]  file.c:12", or "function + 34 (module + 56) [0x1234] 1-825".
Place parse_place(std::string_view text) {
  Place place;
  const std::size_t open = text.rfind(" [0x");
  if (open != std::string_view::npos) {
    const std::size_t end = text.find_first_of(",]", open + 2);
    if (end != std::string_view::npos) {
      parse_hex(text.substr(open + 2, end - open - 2), place.address);
      const std::size_t close = text.find(']', open);
      if (close != std::string_view::npos) {
        const std::string_view source = trim(text.substr(close + 1));
        const std::size_t colon = source.rfind(':');
        if (colon != std::string_view::npos && colon > 0 && parse_uint(source.substr(colon + 1), place.line))
          place.file = source.substr(0, colon);
      }
      text = trim(text.substr(0, open));
    }
  }
  if (const std::size_t in = text.rfind("  (in "); in != std::string_view::npos) {
    const std::size_t close = text.find(')', in);
    if (close != std::string_view::npos) place.module = text.substr(in + 6, close - in - 6);
    text = text.substr(0, in);
  } else if (text.ends_with(')')) {
    const std::size_t begin = text.rfind(" (");
    if (begin != std::string_view::npos) {
      place.module = text.substr(begin + 2, text.size() - begin - 3);
      if (const std::size_t plus = place.module.rfind(" + "); plus != std::string_view::npos)
        place.module = place.module.substr(0, plus);
      text = text.substr(0, begin);
    }
  }
  std::uint64_t offset;
  if (const std::size_t plus = text.rfind(" + ");
      plus != std::string_view::npos &&
      parse_uint(text.substr(plus + 3, text.find(',', plus) - plus - 3), offset))
    text = text.substr(0, plus);
  place.function = trim(text);
  return place;
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.add_metric("samples", "count");
    builder_.info().producer = "sample";
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    close(0);
    if (n_rows_ == 0)
      return fail(ErrorCode::malformed, "there is no call tree below `Call graph:` or a thread", 0);
    builder_.set_n_samples(static_cast<std::uint64_t>(n_samples_));
    uneven_.report(context_.report, "uneven-count", Severity::loss,
                   "callees that count more than their caller");
    skipped_.report(context_.report, "skipped-level", Severity::loss,
                    "lines of the call tree skip a level; they stand below the nearest line above");
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    return {};
  }

 private:
  struct Open {
    ContextId context;
    std::int64_t left = 0;  // the count without that of the callees so far
    std::size_t level = 0;  // of its indentation
    std::uint64_t offset = 0;
  };

  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    if (line == "Call graph:") {
      in_graph_ = true;
      return {};
    }
    if (spindump_thread(line)) return {};
    if (!in_graph_ && !in_spindump_) {
      read_header(line);
      return {};
    }
    if (trim(line).empty() || line.starts_with("Total number in stack")) {
      // Of sample the graph ends here; of spindump the thread.
      if (!open_.empty()) {
        close(0);
        in_graph_ = in_spindump_ = false;
      }
      return {};
    }
    Row row;
    if (!parse_row(line, row))
      return fail(ErrorCode::malformed, "a line of the call tree has no count", offset);
    const std::size_t base = in_spindump_ ? 2 : 4;
    if (row.column < base || (row.column - base) % 2 != 0)
      return fail(ErrorCode::malformed, "a line of the call tree has an odd indentation", offset);
    // Threads are the outermost rows of sample; of spindump they stand above.
    const std::size_t level = (row.column - base) / 2;
    close(level);
    if (level > 0 && open_.empty())
      return fail(ErrorCode::malformed, "a line of the call tree has no caller", offset);
    if (open_.size() >= context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
    // Whose line is not there stands nowhere else: the line above is the nearest caller that is known.
    if (level > 0 && level > open_.back().level + 1) skipped_.count(offset);
    ++n_rows_;
    if (level > 0) {
      if (open_.back().left < row.count) uneven_.count(offset);
      open_.back().left -= std::min(row.count, open_.back().left);
    } else {
      n_samples_ += std::min(row.count, INT64_MAX - n_samples_);
    }
    if (in_graph_ && level == 0 && row.rest.starts_with("Thread_")) {
      begin_thread(row.rest);
      open_.push_back({kRootContext, row.count, level, offset});
      return {};
    }
    const ContextId parent = level == 0 ? kRootContext : open_.back().context;
    open_.push_back({builder_.context(parent, make(row, offset)), row.count, level, offset});
    return {};
  }

  // What a row has left when its callees are known is its own.
  void close(std::size_t level) {
    while (!open_.empty() && open_.back().level >= level) {
      const Open& open = open_.back();
      if (open.left > 0) {
        SampleContext where;
        where.thread = thread_;
        builder_.add_sample(open.context, std::span(&open.left, 1), where);
      }
      open_.pop_back();
    }
  }

  // "Thread_15758523   DispatchQueue_1: com.apple.main-thread  (serial)"
  void begin_thread(std::string_view text) {
    const std::size_t end = std::min(text.find_first_of(": ", 7), text.size());
    ThreadSpec thread;
    parse_int(text.substr(7, end - 7), thread.tid);
    thread.name = trim(text.substr(end));
    if (thread.name.starts_with(':')) thread.name = trim(thread.name.substr(1));
    if (thread.name.empty()) thread.name = text.substr(0, end);
    thread.process_name = program_;
    thread.pid = pid_;
    thread_ = builder_.thread(thread);
  }

  // "  Thread 0x1e5b    DispatchQueue 1    1001 samples (1-1001)    priority 47"
  bool spindump_thread(std::string_view line) {
    if (!line.starts_with("  Thread 0x") || line.find(" samples (") == std::string_view::npos) return false;
    close(0);
    in_spindump_ = true;
    in_graph_ = false;
    builder_.info().producer = "spindump";
    const std::string_view rest = line.substr(9);
    std::uint64_t tid = 0;
    ThreadSpec thread;
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (parse_hex(rest.substr(0, end), tid)) thread.tid = static_cast<std::int64_t>(tid & INT64_MAX);
    thread.name = line.substr(2, 7 + end);
    thread.process_name = program_;
    thread.pid = pid_;
    thread_ = builder_.thread(thread);
    return true;
  }

  void read_header(std::string_view line) {
    // "Analysis of sampling rg (pid 64751) every 1 millisecond"
    if (line.starts_with("Analysis of sampling ")) {
      const std::size_t every = line.rfind(" every ");
      if (every != std::string_view::npos) {
        const std::string_view interval = trim(line.substr(every + 7));
        const std::size_t blank = interval.find(' ');
        std::int64_t n;
        if (blank != std::string_view::npos && parse_int(interval.substr(0, blank), n) && n > 0 &&
            n < 1'000'000'000) {
          const std::string_view unit = interval.substr(blank + 1);
          const std::int64_t scale = unit.starts_with("milli")   ? 1'000'000
                                     : unit.starts_with("micro") ? 1'000
                                                                 : 0;
          if (scale > 0) {
            builder_.info().period = n * scale;
            builder_.info().period_type = "wall";
            builder_.info().period_unit = "nanoseconds";
          }
        }
      }
    } else if (line.starts_with("Process:")) {
      const std::string_view value = trim(line.substr(8));
      const std::size_t open = value.rfind(" [");
      program_ = value.substr(0, open);
      if (open != std::string_view::npos && value.ends_with(']'))
        parse_int(value.substr(open + 2, value.size() - open - 3), pid_);
      if (builder_.info().program.empty()) builder_.info().program = repair_utf8(program_);
    } else if (line.starts_with("Date/Time:") || line.starts_with("OS Version:") ||
               line.starts_with("Version:")) {
      const std::size_t colon = line.find(':');
      if (builder_.info().properties.size() < 16)
        builder_.info().properties.emplace_back(std::string(line.substr(0, colon)),
                                                repair_utf8(trim(line.substr(colon + 1))));
    }
  }

  FrameId make(const Row& row, std::uint64_t offset) {
    const std::uint32_t known = rows_.row(row.rest, row.kernel);
    if (known < frames_.size()) return frames_[known];
    if (!is_valid_utf8(row.rest)) invalid_utf8_.count(offset);
    const Place place = parse_place(row.rest);
    FrameSpec spec;
    spec.address = place.address;
    spec.line = place.line;
    if (row.kernel) spec.kind = FrameKind::kernel;
    if (!place.module.empty() && place.module != "<unknown binary>")
      spec.module = builder_.module({.name = place.module});
    FunctionSpec function{.name = builder_.string(place.function), .file = builder_.string(place.file)};
    if (place.function.empty() || place.function.starts_with("???")) {
      function.name = builder_.string(place.module.empty() ? "[unknown]" : fmt::format("[{}]", place.module));
      function.unresolved = true;
    }
    spec.function = builder_.function(function);
    frames_.push_back(builder_.frame(spec));
    return frames_.back();
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  bool in_graph_ = false, in_spindump_ = false;
  std::vector<Open> open_;
  TextRows rows_;
  std::vector<FrameId> frames_;
  ThreadId thread_;
  std::string_view program_;
  std::int64_t pid_ = -1, n_samples_ = 0;
  std::uint64_t n_rows_ = 0;
  OddLines uneven_, skipped_, invalid_utf8_;
};

class MacosSampleReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"macos-sample",
                                 "macOS sample call tree",
                                 kExtensions,
                                 616,
                                 "macOS sample, Activity Monitor, spindump",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    if (text.starts_with("Analysis of sampling ")) return Confidence::certain;
    LineReader lines(text);
    bool graph = false;
    for (std::string_view line; lines.next(line);) {
      Row row;
      if (graph) return parse_row(line, row) ? Confidence::certain : Confidence::no;
      graph = line == "Call graph:" ||
              (line.starts_with("  Thread 0x") && line.find(" samples (") != std::string_view::npos);
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_macos_sample_reader() {
  return std::make_unique<MacosSampleReader>();
}

}  // namespace profd
