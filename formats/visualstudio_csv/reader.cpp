// The call tree summary of the Visual Studio profiler (VSPerfReport /Summary:CallTree): one function a line
// with its level.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/csv.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".csv"};
constexpr ReaderNotes kNotes{
    .versions = "VSPerfReport's call tree summary",
    .keeps = "exclusive times, bytes or samples and calls by call path, modules",
    .recording = "VSPerfReport /Summary:CallTree /Output:out.csv program.vsp",
    .verified = "inferno and FlameGraph: calls by function",
};
constexpr std::size_t kMaxMetrics = 32;

// "2,893,824" and "18.39".
bool parse_grouped(std::string_view text, double& out) {
  std::array<char, 64> digits;
  std::size_t n = 0;
  for (char c : text) {
    if (c == ',') continue;
    if (n == digits.size()) return false;
    digits[n++] = c;
  }
  return parse_double({digits.data(), n}, out);
}

struct Column {
  std::size_t at = 0;
  std::string name;
  std::string_view unit;
};

// What ran in the function itself, and how often it was called. Averages and inclusive values follow from it.
std::vector<Column> metric_columns(const std::vector<std::string_view>& header) {
  std::vector<Column> exact, shares;
  for (std::size_t i = 2; i < header.size(); ++i) {
    const std::string_view title = trim(header[i]);
    if (title == "Number of Calls") exact.push_back({i, "calls", "count"});
    if (title.find("Exclusive") == std::string_view::npos || title.starts_with("Avg")) continue;
    if (title.ends_with('%'))
      shares.push_back({i, repair_utf8(trim(title.substr(0, title.size() - 1))), "percent"});
    else if (title.find("Bytes") != std::string_view::npos)
      exact.push_back({i, repair_utf8(title), "bytes"});
    else if (title.find("Time") != std::string_view::npos)
      exact.push_back({i, repair_utf8(title), "milliseconds"});
    else
      exact.push_back({i, repair_utf8(title), "count"});
  }
  // A share says less than the value it is of.
  std::vector<Column> out;
  for (Column& share : shares) {
    const bool known =
        std::any_of(exact.begin(), exact.end(), [&](const Column& c) { return c.name == share.name; });
    if (!known) out.push_back(std::move(share));
  }
  out.insert(out.end(), exact.begin(), exact.end());
  return out;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder), rows_(text.text) {}

  Result<void> run() {
    if (!rows_.next(fields_) || fields_.size() < 3 || trim(fields_[0]) != "Level" ||
        trim(fields_[1]) != "Function Name")
      return fail(ErrorCode::malformed, "the first columns are not `Level` and `Function Name`", 0);
    columns_ = metric_columns(fields_);
    if (columns_.empty() || columns_.size() > kMaxMetrics)
      return fail(ErrorCode::malformed, "no column has exclusive values or calls", 0);
    for (std::size_t i = 2; i < fields_.size(); ++i) {
      if (trim(fields_[i]) == "Module Name") module_ = i;
    }
    for (const Column& column : columns_) {
      metrics_.push_back(builder_.add_metric(column.name, column.unit, true));
      n_needed_ = std::max(n_needed_, column.at + 1);
    }
    while (rows_.next(fields_)) {
      if (context_.stop.check()) return context_.stop.status();
      if (fields_.size() == 1 && trim(fields_[0]).empty()) continue;
      if (!read_row() && n_malformed_++ == 0) first_malformed_ = text_.offset + rows_.offset();
    }
    if (n_rows_ == 0)
      return fail(ErrorCode::malformed, "there is no function below the header", rows_.position());
    context_.report.add("malformed-line", Severity::loss,
                        "lines that are no function with its values were not read", first_malformed_,
                        n_malformed_);
    return {};
  }

 private:
  bool read_row() {
    std::uint64_t level = 0;
    if (rows_.is_broken() || fields_.size() < n_needed_ || !parse_uint(trim(fields_[0]), level) ||
        level > stack_.size() || level >= context_.limits.stack_depth)
      return false;
    const std::string_view name = trim(fields_[1]);
    if (name.empty()) return false;
    // A function with a value that is none still has others below it.
    bool good = true;
    std::array<double, kMaxMetrics> values{};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view number = trim(fields_[columns_[i].at]);
      good &= number.empty() || parse_grouped(number, values[i]);
    }
    FrameSpec spec;
    spec.function = builder_.function(name);
    const std::string_view module =
        module_ != 0 && module_ < fields_.size() ? trim(fields_[module_]) : std::string_view{};
    if (!module.empty()) spec.module = builder_.module({.name = module});
    stack_.resize(level);
    stack_.push_back(builder_.context(level == 0 ? kRootContext : stack_.back(), builder_.frame(spec)));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (values[i] != 0) builder_.add_self(stack_.back(), metrics_[i], values[i]);
    }
    ++n_rows_;
    return good;
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  CsvReader rows_;
  std::vector<std::string_view> fields_;
  std::vector<Column> columns_;  // shares, then exact ones
  std::size_t n_needed_ = 0;     // fields of a row
  std::vector<MetricId> metrics_;
  std::size_t module_ = 0;
  std::vector<ContextId> stack_;
  std::uint64_t n_rows_ = 0, n_malformed_ = 0, first_malformed_ = 0;
};

class VisualStudioCsvReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"visualstudio-csv",
                                 "Visual Studio call tree CSV",
                                 kExtensions,
                                 582,
                                 "VSPerfReport /Summary:CallTree, Visual Studio export",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return sniff_text(prefix).starts_with("Level,Function Name,") ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_visualstudio_csv_reader() {
  return std::make_unique<VisualStudioCsvReader>();
}

}  // namespace profd
