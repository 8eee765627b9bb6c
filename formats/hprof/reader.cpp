// The text output of the JVM agent hprof (JDK 1.2 to 8): cpu=samples, cpu=times, heap=sites, monitor=y.
// docs/formats/hprof.md has the tables.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/java_frame.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".hprof", ".hprof.txt"};
constexpr ReaderNotes kNotes{
    .versions = "text of JDK 1.2 to 8: cpu=samples, cpu=times, heap=sites, monitor=y; not heap dumps",
    .keeps = "a profile for each table: samples, calls, times, objects and bytes by stack, lines, threads",
    .recording = "java -agentlib:hprof=cpu=samples,depth=30,thread=y Main",
    .verified =
        "gprof2dot's shares and the total in one corpus file (cpu=times); the rest: only hand-made files",
};
constexpr std::string_view kHead = "JAVA PROFILE 1.0";

enum class Table : std::uint8_t { none, samples, times, monitors, sites };

// The next word of `line`, which loses it.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// "23.26%" or, in some countries, "23,26%".
bool parse_share(std::string_view text, double& out) {
  if (!text.ends_with('%') || text.size() > 16) return false;
  std::array<char, 16> digits{};
  std::size_t n = 0;
  for (char c : text.substr(0, text.size() - 1)) digits[n++] = c == ',' ? '.' : c;
  return parse_double({digits.data(), n}, out);
}

// What lies behind `key` in "THREAD START (obj=…, id = 200001, name="main", group="main")".
std::string_view field(std::string_view line, std::string_view key, char end) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find(end));
}

struct Trace {
  std::size_t begin = 0, end = 0;  // of the lines of its frames in the text
  std::int64_t thread = -1;
};

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, std::vector<ProfileBuilder>& profiles)
      : text_(text), context_(context), profiles_(profiles) {}

  Result<void> run() {
    PROFD_CHECK(find_traces());
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      offset_ = text_.offset + lines.offset();
      if (table_ != Table::none)
        PROFD_CHECK(read_row(line));
      else
        PROFD_CHECK(begin_table(line));
    }
    if (table_ != Table::none) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "the text ends inside a table", text_.offset + text_.text.size());
      context_.report.add("truncated", Severity::loss, "the text ends inside a table", offset_);
      end_table();
    }
    if (profiles_.empty())
      return fail(ErrorCode::malformed,
                  "the file has no table of CPU samples, CPU time, sites or monitors (it is written when the "
                  "program ends)");
    const auto row = [&](std::string_view kind, std::string_view message, std::uint64_t n) {
      context_.report.add(kind, Severity::loss, message, std::nullopt, n);
    };
    row("missing-trace", "rows name a trace that the file does not have; their method stands alone",
        n_missing_);
    row("malformed-line", "rows of a table that are ill-formed were not read", n_malformed_);
    context_.report.add("rounded", Severity::info,
                        "times are shares of the total with two decimals, not more exact than that",
                        std::nullopt, n_rounded_);
    return {};
  }

 private:
  Result<void> find_traces() {
    LineReader lines(text_.text);
    Trace* open = nullptr;
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      if (open && (line.starts_with('\t') || line.starts_with("    "))) {
        open->end = lines.position();
        continue;
      }
      open = nullptr;
      std::uint64_t id = 0;
      if (line.starts_with("TRACE ") && parse_uint(line.substr(6, line.find(':') - 6), id)) {
        open = &traces_[id];
        *open = {lines.position(), lines.position(), -1};
        std::int64_t thread = -1;
        if (parse_int(field(line, "thread=", ')'), thread)) open->thread = thread;
      } else if (line.starts_with("THREAD START")) {
        std::int64_t thread = 0;
        if (parse_int(trim(field(line, "id = ", ',')), thread))
          threads_[thread] = field(line, "name=\"", '"');
      }
    }
    return {};
  }

  Result<void> begin_table(std::string_view line) {
    constexpr std::pair<std::string_view, Table> kTables[] = {{"CPU SAMPLES BEGIN", Table::samples},
                                                              {"CPU TIME (ms) BEGIN", Table::times},
                                                              {"MONITOR TIME BEGIN", Table::monitors},
                                                              {"SITES BEGIN", Table::sites}};
    for (const auto& [head, table] : kTables) {
      if (!line.starts_with(head)) continue;
      table_ = table;
      builder_ = &profiles_.emplace_back();
      contexts_.clear();
      listed_ = 0;
      total_ = 0;
      const std::string_view total = field(line, "total = ", ')');
      if (table != Table::sites && (!parse_int(total.substr(0, total.find(' ')), total_) || total_ < 0))
        return fail(ErrorCode::malformed, "a table has no total", offset_);
      declare();
      return {};
    }
    return {};
  }

  void declare() {
    ProfileInfo& info = builder_->info();
    info.producer = "hprof";
    switch (table_) {
      case Table::samples:
        info.name = "cpu samples";
        builder_->add_metric("samples", "count");
        break;
      case Table::times:
      case Table::monitors:
        info.name = table_ == Table::times ? "cpu time" : "monitor time";
        builder_->add_metric("calls", "count");
        builder_->set_default_metric(builder_->add_metric("time", "milliseconds", true));
        break;
      case Table::sites:
        info.name = "sites";
        builder_->add_metric("alloc_objects", "count");
        builder_->add_metric("alloc_space", "bytes");
        builder_->add_metric("inuse_objects", "count");
        builder_->set_default_metric(builder_->add_metric("inuse_space", "bytes"));
        break;
      case Table::none:
        break;
    }
  }

  void end_table() {
    // Rows below the cut-off (0.01 % by default) are in the total only.
    const FrameId rest =
        builder_->frame({.function = builder_->function(
                             FunctionSpec{.name = builder_->string("[not listed]"), .unresolved = true})});
    const double missing = static_cast<double>(total_) - listed_;
    if (table_ == Table::samples && missing >= 1)
      builder_->add_self(builder_->context(kRootContext, rest), MetricId{0u},
                         static_cast<std::int64_t>(missing));
    if ((table_ == Table::times || table_ == Table::monitors) && missing > 0)
      builder_->add_self(builder_->context(kRootContext, rest), MetricId{1u}, missing);
    if (table_ == Table::samples) builder_->set_n_samples(static_cast<std::uint64_t>(total_));
    table_ = Table::none;
  }

  Result<void> read_row(std::string_view line) {
    if (line.ends_with(" END")) {
      end_table();
      return {};
    }
    std::string_view rest = line;
    std::uint64_t rank = 0;
    if (!parse_uint(next_word(rest), rank)) {
      // The head of the columns, in one line or two.
      const bool head =
          trim(line).empty() || trim(line).starts_with("rank") || trim(line).starts_with("percent");
      n_malformed_ += !head;
      return {};
    }
    double self = 0, accumulated = 0;
    bool good = parse_share(next_word(rest), self) && parse_share(next_word(rest), accumulated) && self >= 0;
    std::array<std::int64_t, 4> counts{};
    const std::size_t n_counts = table_ == Table::sites ? 4 : 1;
    for (std::size_t i = 0; i < n_counts; ++i)
      good = good && parse_int(next_word(rest), counts[i]) && counts[i] >= 0;
    std::uint64_t trace = 0;
    good = good && parse_uint(next_word(rest), trace);
    if (!good) {
      ++n_malformed_;
      return {};
    }
    const std::string_view name = trim(rest);
    PROFD_TRY(const ContextId context, context_of(trace, name));
    if (table_ == Table::sites) {
      // live bytes and objects, then allocated bytes and objects; the name is the class of the objects.
      for (const auto& [metric, value] : {std::pair<std::uint32_t, std::int64_t>{0, counts[3]},
                                          {1, counts[2]},
                                          {2, counts[1]},
                                          {3, counts[0]}})
        builder_->add_self(context, MetricId{metric}, value);
      return {};
    }
    builder_->add_self(context, MetricId{0u}, counts[0]);
    if (table_ == Table::samples) {
      listed_ += static_cast<double>(counts[0]);
    } else {
      const double time = self / 100 * static_cast<double>(total_);
      builder_->add_self(context, MetricId{1u}, time);
      listed_ += time;
      ++n_rounded_;
    }
    return {};
  }

  Result<ContextId> context_of(std::uint64_t id, std::string_view name) {
    const auto found = traces_.find(id);
    ContextId context = kRootContext;
    if (found == traces_.end()) ++n_missing_;
    if (found != traces_.end()) {
      const auto known = contexts_.find(id);
      if (known != contexts_.end()) {
        context = known->second;
      } else {
        PROFD_TRY(context, make_context(found->second));
        contexts_[id] = context;
      }
    }
    if (context == kRootContext && table_ != Table::sites)
      context = builder_->context(
          kRootContext, builder_->frame({.function = builder_->function(name.empty() ? "[unknown]" : name)}));
    // Allocated objects stand on the trace that made them.
    if (table_ == Table::sites && !name.empty()) {
      FrameSpec object;
      object.function = builder_->function(name);
      object.kind = FrameKind::data_object;
      context = builder_->context(context, builder_->frame(object));
    }
    return context;
  }

  Result<ContextId> make_context(const Trace& trace) {
    stack_.clear();
    LineReader lines(text_.text.substr(0, trace.end), trace.begin);
    for (std::string_view line; lines.next(line);) {
      if (stack_.size() >= context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            text_.offset + lines.offset());
      JavaFrame frame;
      if (trim(line).starts_with("<")) continue;  // <empty>
      if (!parse_java_frame(line, frame)) frame.name = trim(line);
      if (frame.name.empty()) continue;
      // "Unknown line" and the like are no lines; a colon alone is an unknown file.
      if (frame.file.starts_with("Unknown")) frame.file = {};
      stack_.push_back(add_java_frame(*builder_, frame));
    }
    const auto thread = threads_.find(trace.thread);
    if (thread != threads_.end() && !stack_.empty()) {
      FrameSpec spec;
      spec.function = builder_->function(fmt::format("[{}]", thread->second));
      stack_.push_back(builder_->frame(spec));
    }
    std::reverse(stack_.begin(), stack_.end());
    return builder_->context_of(stack_);
  }

  const DecodedText& text_;
  ReadContext& context_;
  std::vector<ProfileBuilder>& profiles_;
  std::unordered_map<std::uint64_t, Trace> traces_;
  std::unordered_map<std::int64_t, std::string_view> threads_;
  ProfileBuilder* builder_ = nullptr;  // of the table that is read
  std::unordered_map<std::uint64_t, ContextId> contexts_;
  std::vector<FrameId> stack_;
  Table table_ = Table::none;
  std::int64_t total_ = 0;
  double listed_ = 0;
  std::size_t offset_ = 0;
  std::uint64_t n_missing_ = 0, n_malformed_ = 0, n_rounded_ = 0;
};

class HprofReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "hprof", "hprof text", kExtensions, 504, "the JVM agent hprof (JDK 1.2 to 8)", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    return text.starts_with(kHead) && text.find(", created") < 64 ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (source.text().substr(0, 32).find('\0') != std::string_view::npos)
      return fail(ErrorCode::unsupported, "this is a binary heap dump, which is no profile", 0);
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_hprof_reader() {
  return std::make_unique<HprofReader>();
}

}  // namespace profd
