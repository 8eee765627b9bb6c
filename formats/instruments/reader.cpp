// What Instruments puts on the clipboard (Edit > Deep Copy): a table with tabs, one row a node of the call
// tree, the depth in blanks before the symbol. Weights are rounded to three or four digits; where there is a
// self column its values are taken, else the weight less that of the callees.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "core/support/text.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".instruments.txt"};
constexpr ReaderNotes kNotes{
    .versions = "Edit > Deep Copy of Instruments 7 to 13",
    .keeps = "time, cycles, bytes or counts by call path, files; weights as rounded as the text is",
    .recording = "in Instruments: Edit > Deep Copy, pasted into a file",
    .verified = "speedscope on one time profile; two other corpus files against their root row",
};

struct Unit {
  std::string_view name;
  double scale;
  std::string_view base;
};
constexpr std::array<Unit, 16> kUnits{{{"ns", 1, "nanoseconds"},
                                       {"µs", 1e3, "nanoseconds"},
                                       {"us", 1e3, "nanoseconds"},
                                       {"ms", 1e6, "nanoseconds"},
                                       {"s", 1e9, "nanoseconds"},
                                       {"min", 60e9, "nanoseconds"},
                                       {"h", 3600e9, "nanoseconds"},
                                       {"c", 1, "cycles"},
                                       {"cycles", 1, "cycles"},
                                       {"Kc", 1e3, "cycles"},
                                       {"Mc", 1e6, "cycles"},
                                       {"Gc", 1e9, "cycles"},
                                       {"Bytes", 1, "bytes"},
                                       {"KB", 1024, "bytes"},
                                       {"MB", 1048576, "bytes"},
                                       {"GB", 1073741824, "bytes"}}};

struct Amount {
  double value = 0;
  std::string_view unit;  // of kUnits' bases; "" for a bare number
};

// "4.93 s  100.0%", "846.00 ms", "4273.0ms   99.9%", "84671", "-".
bool parse_amount(std::string_view text, Amount& out) {
  text = trim(text);
  out = {};
  if (text == "-" || text.empty()) return true;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789.,"), text.size());
  if (!parse_double(text.substr(0, digits), out.value)) return false;
  std::string_view rest = trim(text.substr(digits));
  if (rest.empty() || rest[0] == '%') return true;
  const std::string_view unit = rest.substr(0, rest.find(' '));
  for (const Unit& known : kUnits)
    if (unit == known.name) {
      out.value *= known.scale;
      out.unit = known.base;
      return true;
    }
  return false;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos || cells.size() == 64) return cells;
    line.remove_prefix(tab + 1);
  }
}

struct Header {
  static constexpr std::size_t kMissing = 64;
  std::size_t weight = kMissing, self = kMissing, count = kMissing, symbol = kMissing, path = kMissing;
  bool self_in_ms = false;
  bool good() const { return weight != kMissing && symbol != kMissing; }
};

Header parse_header(std::string_view line) {
  Header header;
  const auto cells = cells_of(line);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = trim(cells[i]);
    if (cell == "Weight" || cell == "Running Time" || cell == "Bytes Used") header.weight = i;
    if (cell == "Self Weight" || cell == "Self (ms)" || cell == "Self") header.self = i;
    if (cell == "Self (ms)") header.self_in_ms = true;
    if (cell == "Count") header.count = i;
    if (cell == "Symbol Name" || cell == "Symbol Names") header.symbol = i;
    if (cell == "Source Path") header.path = i;
  }
  return header;
}

std::int64_t rounded(double value) {
  return value >= 9.2e18 ? INT64_MAX : static_cast<std::int64_t>(std::llround(value));
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.info().producer = "Instruments";
    LineReader lines(text_.text);
    std::string_view line;
    if (!lines.next(line)) return fail(ErrorCode::malformed, "there is no header", 0);
    header_ = parse_header(line);
    if (!header_.good())
      return fail(ErrorCode::malformed,
                  "the header names no weight (Weight, Running Time, Bytes Used) or no Symbol Name", 0);
    while (lines.next(line)) {
      if (!lines.ended() && truncated_) break;
      if (trim(line).empty()) continue;
      PROFD_CHECK(read_row(line, text_.offset + lines.offset()));
      if (rows_.size() % 65536 == 0) PROFD_CHECK(context_.stop.status());
    }
    if (rows_.empty()) return fail(ErrorCode::malformed, "the table has no rows", text_.text.size());
    return build();
  }

 private:
  struct Row {
    std::uint32_t parent = kNone;
    double weight = 0, self = 0;
    std::int64_t count = 0;
    std::string_view symbol, path;
  };

  Result<void> read_row(std::string_view line, std::uint64_t offset) {
    const auto cells = cells_of(line);
    if (cells.size() <= header_.symbol || cells.size() <= header_.weight)
      return fail(ErrorCode::malformed, "a row has fewer columns than the header", offset);
    const std::string_view cell = cells[header_.symbol];
    const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
    if (rows_.empty()) base_ = blanks;
    if (blanks < base_ || blanks - base_ > open_.size())
      return fail(ErrorCode::malformed, "a row is not indented below its caller", offset);
    const std::size_t depth = blanks - base_;
    if (depth >= context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
    Row row;
    row.symbol = trim(cell);
    if (header_.path < cells.size()) row.path = trim(cells[header_.path]);
    Amount amount;
    if (!parse_amount(cells[header_.weight], amount))
      return fail(ErrorCode::malformed, "a weight is no number with a known unit", offset);
    row.weight = amount.value;
    if (unit_.empty()) unit_ = amount.unit;
    if (header_.self < cells.size()) {
      if (!parse_amount(cells[header_.self], amount))
        return fail(ErrorCode::malformed, "a self weight is no number with a known unit", offset);
      row.self = header_.self_in_ms && amount.unit.empty() ? amount.value * 1e6 : amount.value;
    }
    if (header_.count < cells.size() && !trim(cells[header_.count]).empty() &&
        (!parse_int(trim(cells[header_.count]), row.count) || row.count < 0))
      return fail(ErrorCode::malformed, "a count is no number", offset);
    open_.resize(depth);
    if (depth > 0) row.parent = open_.back();
    open_.push_back(static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back(row);
    return {};
  }

  Result<void> build() {
    const bool bytes = unit_ == "bytes", cycles = unit_ == "cycles";
    builder_.add_metric(bytes ? "bytes used" : cycles ? "cycles" : "time", unit_.empty() ? "count" : unit_);
    if (header_.count != Header::kMissing) builder_.add_metric("count", "count");
    std::vector<double> weights;
    std::vector<std::int64_t> counts;
    for (const Row& row : rows_) weights.push_back(row.weight), counts.push_back(row.count);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].parent != kNone) {
        weights[rows_[i].parent] -= rows_[i].weight;
        counts[rows_[i].parent] -= rows_[i].count;
      }
    std::vector<ContextId> contexts;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const ContextId parent = row.parent == kNone ? kRootContext : contexts[row.parent];
      FunctionSpec function{.name = builder_.string(row.symbol.empty() ? "(empty)" : row.symbol),
                            .file = builder_.string(row.path),
                            .unresolved = row.symbol.starts_with("0x") || row.symbol == "<Unknown Address>"};
      contexts.push_back(builder_.context(parent, builder_.frame({.function = builder_.function(function)})));
      double self = header_.self != Header::kMissing ? row.self : weights[i];
      if (self < 0) {
        // The parts of a rounded weight can be more than the whole.
        context_.report.add(
            "rounded", Severity::info,
            "callees weigh more than their caller, by rounding: its own weight is taken as 0");
        self = 0;
      }
      builder_.add_self(contexts.back(), MetricId{0u}, rounded(self));
      if (header_.count == Header::kMissing) continue;
      if (counts[i] < 0) {
        context_.report.add("uneven-count", Severity::loss, "callees count more than their caller");
        counts[i] = 0;
      }
      builder_.add_self(contexts.back(), MetricId{1u}, counts[i]);
    }
    return {};
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Header header_;
  std::string_view unit_;
  std::size_t base_ = 0;
  std::vector<std::uint32_t> open_;
  std::vector<Row> rows_;
};

class InstrumentsReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "instruments", "Instruments deep copy", kExtensions, 618, "Xcode Instruments", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view first = first_line(sniff_text(prefix));
    if (first.find('\t') == std::string_view::npos) return Confidence::no;
    return parse_header(first).good() ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }

  // A .trace bundle is Instruments' own store, whose layout changes with every version.
  Confidence sniff_folder(const Folder& folder) const override {
    bool form = false, space = false;
    for (const std::string& file : folder.files()) {
      form |= file == "form.template" || file.ends_with("/form.template");
      space |= file.find("corespace/") != std::string::npos;
    }
    return form && space ? Confidence::certain : Confidence::no;
  }
  Result<void> read_folder(const Folder&, ReadContext&, std::vector<ProfileBuilder>&) const override {
    return fail(
        ErrorCode::unsupported,
        "a .trace bundle of Instruments is not read: export it with `xctrace export --input FILE.trace "
        "--xpath "
        "'/trace-toc/run[@number=\"1\"]/data/table[@schema=\"time-profile\"]'`, or copy the call tree with "
        "Edit > Deep Copy");
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_instruments_reader() {
  return std::make_unique<InstrumentsReader>();
}

}  // namespace profd
