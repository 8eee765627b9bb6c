// CPU samples of the Windows Performance Toolkit as CSV (xperf, WPA): a line a sample or a sum of samples,
// its stack in one column.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/csv.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".xperf", ".csv"};
constexpr ReaderNotes kNotes{
    .versions = "xperf -a stack and WPA's CSV, columns in any order",
    .keeps = "weights and samples by stack, process, thread, processor and time, modules",
    .recording = "xperf -i trace.etl -symbols -o out.csv -a stack",
    .verified = "gprof2dot's shares of the top functions of one corpus file",
};
constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
constexpr std::string_view kRoot = "[Root]";

struct Columns {
  std::size_t n = 0;
  std::size_t process_name = kNoColumn, process = kNoColumn, stack = kNoColumn, address = kNoColumn,
              thread = kNoColumn, cpu = kNoColumn, weight = kNoColumn, count = kNoColumn, time = kNoColumn;
};

Columns columns_of(const std::vector<std::string_view>& header) {
  Columns out;
  out.n = header.size();
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view title = trim(header[i]);
    if (title == "Process Name") out.process_name = i;
    if (title == "Process") out.process = i;
    if (title == "Stack") out.stack = i;
    if (title == "Address") out.address = i;
    if (title == "Thread ID" || title == "ThreadID") out.thread = i;
    if (title == "CPU") out.cpu = i;
    if (title == "Weight") out.weight = i;
    if (title == "Count") out.count = i;
    if (title == "TimeStamp") out.time = i;
  }
  return out;
}

// Seconds with at most nine decimals, exactly.
bool parse_seconds(std::string_view text, std::int64_t& nanoseconds) {
  const std::size_t dot = text.find('.');
  const std::string_view decimals = dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  std::uint64_t whole = 0, part = 0;
  if (!parse_uint(text.substr(0, dot), whole) || whole > 9'000'000'000 || decimals.size() > 9) return false;
  if (!decimals.empty() && !parse_uint(decimals, part)) return false;
  for (std::size_t i = decimals.size(); i < 9; ++i) part *= 10;
  nanoseconds = static_cast<std::int64_t>(whole * 1'000'000'000 + part);
  return true;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder), rows_(text.text, ',', true) {}

  Result<void> run() {
    if (rows_.next(fields_)) columns_ = columns_of(fields_);
    if (columns_.stack == kNoColumn || columns_.weight == kNoColumn)
      return fail(ErrorCode::malformed, "the header has no columns `Stack` and `Weight`", 0);
    builder_.add_metric("weight", "milliseconds", true);
    builder_.add_metric("samples", "count");
    while (rows_.next(fields_)) {
      if (context_.stop.check()) return context_.stop.status();
      if (fields_.size() == 1 && trim(fields_[0]).empty()) continue;
      PROFD_TRY(const bool good, read_row());
      if (!good && n_malformed_++ == 0) first_malformed_ = text_.offset + rows_.offset();
    }
    if (n_samples_ == 0)
      return fail(ErrorCode::malformed, "there is no sample below the header", rows_.position());
    builder_.set_n_samples(n_samples_);
    builder_.info().producer = "xperf";
    if (any_time_) builder_.info().duration_ns = last_time_ - first_time_;
    context_.report.add(
        "malformed-line", Severity::loss,
        "lines with another number of columns than the header, or values that are none, were not read",
        first_malformed_, n_malformed_);
    return {};
  }

 private:
  std::string_view field(std::size_t column) const {
    return column == kNoColumn ? std::string_view{} : trim(fields_[column]);
  }

  Result<bool> read_row() {
    // Names with commas are not quoted: such a line cannot be taken apart.
    if (fields_.size() != columns_.n || rows_.is_broken()) return false;
    double weight = 0;
    std::int64_t count = 1;
    std::uint64_t address = 0;
    if (!parse_double(field(columns_.weight), weight)) return false;
    if (columns_.count != kNoColumn && !parse_int(field(columns_.count), count)) return false;
    if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) return false;
    if (columns_.address != kNoColumn && !field(columns_.address).empty() &&
        !parse_hex(field(columns_.address), address))
      return false;
    SampleContext where;
    std::int64_t time = 0;
    if (columns_.time != kNoColumn) {
      if (!parse_seconds(field(columns_.time), time)) return false;
      where.time = time;
      first_time_ = any_time_ ? std::min(first_time_, time) : time;
      last_time_ = any_time_ ? std::max(last_time_, time) : time;
      any_time_ = true;
    }
    where.thread = thread();
    std::int64_t cpu = 0;
    if (columns_.cpu != kNoColumn && parse_int(field(columns_.cpu), cpu)) where.labels = cpu_label(cpu);
    PROFD_TRY(const ContextId context, context_of(field(columns_.stack), address));
    builder_.add_sample(context, std::array<Value, 2>{weight, count}, where);
    n_samples_ += static_cast<std::uint64_t>(count);
    return true;
  }

  ThreadId thread() {
    const std::string_view process = field(columns_.process), tid = field(columns_.thread);
    if (process.empty() && tid.empty()) return {};
    const std::pair key{std::string(process), std::string(tid)};
    const auto [at, is_new] = threads_.try_emplace(key);
    if (!is_new) return at->second;
    ThreadSpec spec;
    spec.process_name = field(columns_.process_name);
    // "val3.exe (4144)".
    const std::size_t open = process.rfind('(');
    if (open != std::string_view::npos && process.ends_with(')'))
      parse_int(trim(process.substr(open + 1, process.size() - open - 2)), spec.pid);
    parse_int(tid, spec.tid);
    at->second = builder_.thread(spec);
    return at->second;
  }

  LabelSetId cpu_label(std::int64_t cpu) {
    const auto [at, is_new] = cpus_.try_emplace(cpu, LabelSetId{0u});
    if (is_new) {
      const Label label{.key = builder_.string("cpu"), .is_number = true, .number = cpu};
      at->second = builder_.label_set({&label, 1});
    }
    return at->second;
  }

  // All but the innermost frame are known by the text of the stack; that one has the address of the sample.
  Result<ContextId> context_of(std::string_view stack, std::uint64_t address) {
    // What had to be unquoted lives until the next row only.
    const bool in_text =
        stack.data() >= text_.text.data() && stack.data() <= text_.text.data() + text_.text.size();
    if (!in_text) stack = kept_.emplace_back(stack);
    const std::uint32_t row = stacks_.row(stack);
    if (row == parents_.size()) {
      ContextId at = kRootContext;
      std::string_view leaf;
      std::size_t depth = 0;
      for (std::size_t begin = 0; begin <= stack.size();) {
        const std::size_t end = std::min(stack.find('/', begin), stack.size());
        const std::string_view part = stack.substr(begin, end - begin);
        begin = end + 1;
        if (part.empty() || part == kRoot) continue;
        if (!leaf.empty()) at = builder_.context(at, frame(leaf, 0));
        leaf = part;
        if (++depth > context_.limits.stack_depth)
          return fail(
              ErrorCode::limit,
              fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
              rows_.offset());
      }
      parents_.push_back({at, leaf.empty() ? std::string_view("[unknown]") : leaf});
    }
    return builder_.context(parents_[row].context, frame(parents_[row].leaf, address));
  }

  // "ntdll.dll!_RtlUserThreadStart".
  FrameId frame(std::string_view text, std::uint64_t address) {
    FrameSpec spec;
    const std::size_t bang = text.find('!');
    const std::string_view module =
        bang == std::string_view::npos ? std::string_view{} : text.substr(0, bang);
    const std::string_view name = bang == std::string_view::npos ? text : text.substr(bang + 1);
    const bool unresolved = name.empty() || name == "?" || name == "[unknown]" || name.starts_with("Unknown");
    const std::string shown =
        unresolved ? (module.empty() ? "[unknown]" : fmt::format("[{}]", module)) : std::string(name);
    spec.function = builder_.function(FunctionSpec{.name = builder_.string(shown), .unresolved = unresolved});
    if (!module.empty() && module != "?") spec.module = builder_.module({.name = module});
    spec.address = address;
    if (module.ends_with(".sys") || module == "ntoskrnl.exe" || module == "ntkrnlmp.exe" ||
        module == "ntkrnlpa.exe")
      spec.kind = FrameKind::kernel;
    return builder_.frame(spec);
  }

  struct Parent {
    ContextId context;
    std::string_view leaf;
  };

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  CsvReader rows_;
  std::vector<std::string_view> fields_;
  Columns columns_;
  std::deque<std::string> kept_;
  TextRows stacks_;
  std::vector<Parent> parents_;  // by row of stacks_
  std::map<std::pair<std::string, std::string>, ThreadId> threads_;
  std::unordered_map<std::int64_t, LabelSetId> cpus_;
  bool any_time_ = false;
  std::int64_t first_time_ = 0, last_time_ = 0;
  std::uint64_t n_samples_ = 0, n_malformed_ = 0, first_malformed_ = 0;
};

class XperfReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "xperf", "xperf / WPA CSV", kExtensions, 583, "Windows Performance Toolkit", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = first_line(sniff_text(prefix));
    const bool columns = text.find("Stack,") != std::string_view::npos &&
                         text.find("Weight") != std::string_view::npos &&
                         text.find("Process") != std::string_view::npos;
    return !columns                            ? Confidence::no
           : text.starts_with("Process Name,") ? Confidence::certain
                                               : Confidence::maybe;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_xperf_reader() {
  return std::make_unique<XperfReader>();
}

}  // namespace profd
