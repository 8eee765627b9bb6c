// The top-down tree of Intel VTune as text: one function a line, indented by its depth, with self values.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/code_symbol.h"
#include "formats/support/csv.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".csv"};
constexpr ReaderNotes kNotes{
    .versions = "comma, tab or semicolon",
    .keeps = "self times or counts by call path, modules, files, addresses",
    .recording =
        "vtune -R top-down -call-stack-mode all -format csv -csv-delimiter comma -report-out out.csv -r "
        "r000hs",
    .verified = "inferno's result for one corpus file: total in milliseconds, top functions within 2 ms",
};
constexpr std::string_view kStackColumn = "Function Stack", kSelf = ":Self";
constexpr std::size_t kMaxMetrics = 128;

char separator_of(std::string_view text) {
  const std::string_view line = first_line(text);
  for (const char c : {',', '\t', ';'}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder), rows_(text.text, separator_of(text.text)) {}

  Result<void> run() {
    PROFD_CHECK(read_header());
    while (rows_.next(fields_)) {
      if (context_.stop.check()) return context_.stop.status();
      if (fields_.size() == 1 && trim(fields_[0]).empty()) continue;
      PROFD_CHECK(read_row());
    }
    if (n_rows_ == 0)
      return fail(ErrorCode::malformed, "there is no function below the header", rows_.position());
    context_.report.add("malformed-line", Severity::loss,
                        "lines that are no function with its values were not read", first_malformed_,
                        n_malformed_);
    return {};
  }

 private:
  struct Column {
    std::size_t at = 0;
    MetricId metric;
  };

  Result<void> read_header() {
    if (!rows_.next(fields_) || trim(fields_[0]) != kStackColumn)
      return fail(ErrorCode::malformed, "the first column is not `Function Stack`", 0);
    n_columns_ = fields_.size();
    for (std::size_t i = 1; i < fields_.size(); ++i) {
      const std::string_view title = trim(fields_[i]);
      if (title.ends_with(kSelf)) {
        if (columns_.size() == kMaxMetrics)
          return fail(ErrorCode::limit, fmt::format("more than {} metrics", kMaxMetrics), rows_.offset());
        const std::string_view name = title.substr(0, title.size() - kSelf.size());
        const bool time = name.find("Time") != std::string_view::npos;
        columns_.push_back({i, builder_.add_metric(repair_utf8(name), time ? "seconds" : "count", true)});
      } else if (title == "Module") {
        module_ = i;
      } else if (title == "Source File") {
        file_ = i;
      } else if (title == "Start Address") {
        address_ = i;
      }
    }
    if (columns_.empty()) return fail(ErrorCode::malformed, "no column has self values (`CPU Time:Self`)", 0);
    return {};
  }

  void malformed() {
    if (n_malformed_++ == 0) first_malformed_ = text_.offset + rows_.offset();
  }

  std::string_view field(std::size_t column) const {
    return column == 0 || column >= fields_.size() ? std::string_view{} : trim(fields_[column]);
  }

  Result<void> read_row() {
    const std::string_view name = trim(fields_[0]);
    const std::size_t depth = rows_.indent();
    if (name.empty() || depth > stack_.size()) {
      malformed();
      return {};
    }
    // Its values are missing; what it called still stands below it.
    if (rows_.is_broken() || fields_.size() < n_columns_) malformed();
    std::array<double, kMaxMetrics> values{};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string_view number = field(columns_[i].at);
      if (number.ends_with('s')) number.remove_suffix(1);
      if (!number.empty() && !parse_double(number, values[i])) {
        malformed();
        values[i] = 0;
      }
    }
    if (depth >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          rows_.offset());
    stack_.resize(depth);
    const ContextId parent = depth == 0 ? kRootContext : stack_.back();
    // The first line stands for all of the program; it is a frame only when something ran in it.
    const bool total = depth == 0 && name == "Total" && values == std::array<double, kMaxMetrics>{};
    stack_.push_back(total ? kRootContext : builder_.context(parent, frame(name)));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (values[i] != 0) builder_.add_self(stack_.back(), columns_[i].metric, values[i]);
    }
    ++n_rows_;
    return {};
  }

  FrameId frame(std::string_view name) {
    constexpr std::string_view kNoSymbol = "func@0x";
    FrameSpec spec;
    const std::string_view module = field(module_);
    const bool module_known = !module.empty() && module != "[Unknown]";
    parse_hex(field(address_), spec.address);
    const StringId file = builder_.string(field(file_) == "[Unknown]" ? std::string_view{} : field(file_));
    if (name.starts_with(kNoSymbol) && parse_hex(name.substr(5), spec.address)) {
      const std::string unresolved = unresolved_name(module_known ? module : std::string_view{});
      spec.function = builder_.function(
          FunctionSpec{.name = builder_.string(unresolved), .file = file, .unresolved = true});
    } else {
      spec.function = builder_.function(FunctionSpec{.name = builder_.string(name), .file = file});
    }
    if (module_known) spec.module = builder_.module({.name = module});
    return builder_.frame(spec);
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  CsvReader rows_;
  std::vector<std::string_view> fields_;
  std::vector<Column> columns_;
  std::size_t n_columns_ = 0, module_ = 0, file_ = 0, address_ = 0;  // 0: there is none
  std::vector<ContextId> stack_;
  std::uint64_t n_rows_ = 0, n_malformed_ = 0, first_malformed_ = 0;
};

class VtuneCsvReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"vtune-csv", "Intel VTune top-down CSV",           kExtensions,
                                 581,         "vtune -report top-down -format csv", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    std::string_view text = first_line(sniff_text(prefix));
    if (text.starts_with('"')) text.remove_prefix(1);
    return text.starts_with(kStackColumn) && text.find(kSelf) != std::string_view::npos ? Confidence::certain
                                                                                        : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_vtune_csv_reader() {
  return std::make_unique<VtuneCsvReader>();
}

}  // namespace profd
