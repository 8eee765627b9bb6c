// The profiler's text report.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/vm_profiler/samples.h"

namespace profd::vm_profiler {
namespace {

// "10,007" at the start of `text`; steps over it.
bool take_int(std::string_view& text, std::int64_t& out) {
  std::int64_t value = 0;
  std::size_t i = 0;
  for (; i < text.size() && ((text[i] >= '0' && text[i] <= '9') || (text[i] == ',' && i > 0)); ++i) {
    if (text[i] == ',') continue;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[i] - '0', &value))
      return false;
  }
  if (i == 0) return false;
  text.remove_prefix(i);
  out = value;
  return true;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool take(std::string_view& text, std::string_view what) {
  skip_blanks(text);
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

// "46.55%"
bool take_percent(std::string_view& text) {
  skip_blanks(text);
  const std::size_t end = text.find('%');
  double value;
  if (end == std::string_view::npos || end > 12 || !parse_double(text.substr(0, end), value)) return false;
  text.remove_prefix(end + 1);
  return true;
}

// Cuts "( 3.12%)" off the end, then "(123)".
bool take_tail(std::string_view& text, std::int64_t& count) {
  text = trim(text);
  const std::size_t percent = text.rfind('(');
  if (percent == std::string_view::npos || !text.ends_with(')')) return false;
  std::string_view inside = text.substr(percent + 1);
  if (!take_percent(inside) || !take(inside, ")")) return false;
  text = trim(text.substr(0, percent));
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return false;
  inside = trim(text.substr(open + 1, text.size() - open - 2));
  if (!take_int(inside, count) || !inside.empty()) return false;
  text = trim(text.substr(0, open));
  return true;
}

struct Row {
  std::string_view name;
  std::int64_t count = 0;
  bool is_range = false;
  Range range;
};

bool parse_row(std::string_view line, Row& row) {
  if (!take_percent(line)) return false;
  skip_blanks(line);
  if (!line.empty() && line[0] == '(') {
    line.remove_prefix(1);
    if (!take_percent(line) || !take(line, ")")) return false;
    row.is_range = false;
    if (!take_tail(line, row.count) || line.empty()) return false;
    row.name = line;
    return true;
  }
  row.is_range = true;
  if (!take_tail(line, row.count)) return false;
  std::int64_t from = 0, to = 0;
  if (!take_int(line, from) || !take(line, "->")) return false;
  skip_blanks(line);
  if (!take_int(line, to) || !line.empty() || from < 0 || to < from) return false;
  row.range = {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)};
  return true;
}

struct Section {
  std::string name;
  std::int64_t samples = 0, listed = 0;
};

class ReportReading {
 public:
  ReportReading(ReadContext& context, ProfileBuilder& builder)
      : context_(context), builder_(builder), samples_(builder, true) {}

  Result<void> run(std::string_view text) {
    LineReader lines(text);
    std::string_view line;
    while (lines.next(line)) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      offset_ = lines.offset();
      line = trim(line);
      if (!line.empty()) take_line(line);
    }
    end_method();
    return finish();
  }

 private:
  void take_line(std::string_view line) {
    if (line.starts_with("**") && line.ends_with("**") && line.size() > 4) {
      end_method();
      table_ = SIZE_MAX;
      heading_ = trim(line.substr(2, line.size() - 4));
      return;
    }
    if (!heading_.empty()) return extra(line);
    if (line.starts_with("% of ")) {
      end_method();
      // "% of generated vm code (% of total) …"
      const std::string_view name = trim(line.substr(5, line.find('(') - 5));
      table_ = SIZE_MAX;
      for (std::size_t i = 0; i < sections_.size(); ++i)
        if (sections_[i].name == name) table_ = i;
      if (table_ == SIZE_MAX) {
        context_.report.add("table-without-section", Severity::loss,
                            "A table belongs to no section named before it.", offset_);
        sections_.push_back({std::string(name), 0, 0});
        table_ = sections_.size() - 1;
        sections_.back().samples = -1;
      }
      return;
    }
    Row row;
    if (table_ != SIZE_MAX && parse_row(line, row)) return take_row(row);
    std::string_view rest = line;
    std::int64_t n = 0;
    if (take_int(rest, n) && take(rest, "samples in ")) {
      if (rest.starts_with("the VM")) {
        vm_ = n;
        const std::size_t open = rest.find('(');
        std::string_view inside = open == std::string_view::npos ? std::string_view() : rest.substr(open + 1);
        if (take_int(inside, n)) program_ = n;
        return;
      }
      // "generated vm code 97.11% of entire vm (96.86% of total)"
      std::size_t end = rest.find('%');
      while (end != std::string_view::npos && end > 0 &&
             ((rest[end - 1] >= '0' && rest[end - 1] <= '9') || rest[end - 1] == '.' || rest[end - 1] == ' '))
        --end;
      sections_.push_back({std::string(trim(rest.substr(0, end))), n, 0});
      return;
    }
    const std::size_t seconds = line.find(" seconds; sampling frequency ");
    double duration = 0;
    if (seconds != std::string_view::npos && parse_double(line.substr(0, seconds), duration) &&
        duration > 0 && duration < 9e9) {
      builder_.info().duration_ns = std::llround(duration * 1e9);
      std::string_view rate = line.substr(seconds + 29);
      if (take_int(rate, n) && n > 0) {
        builder_.info().period = 1'000'000'000 / n;
        builder_.info().period_type = "time";
        builder_.info().period_unit = "nanoseconds";
      }
      return;
    }
    if (table_ == SIZE_MAX) return head(line);
    context_.report.add("malformed-line", Severity::loss, "Lines of tables that are no row were left out.",
                        offset_);
  }

  // The path of the image may go on in the next line.
  void head(std::string_view line) {
    constexpr std::size_t kMax = 100;
    if (builder_.info().properties.size() < kMax) builder_.info().properties.emplace_back("report", line);
  }

  void extra(std::string_view line) {
    constexpr std::size_t kMax = 1000;
    if (builder_.info().properties.size() < kMax) builder_.info().properties.emplace_back(heading_, line);
    std::string_view rest = line;
    std::string_view kind;
    for (const std::string_view word : {"full", "scavenges", "scavenge"})
      if (kind.empty() && rest.starts_with(word)) kind = word;
    if (heading_ == "Compiled Code Compactions") kind = "code compaction";
    if (kind.empty() || heading_ == "Events") return;
    if (rest.starts_with(kind)) rest.remove_prefix(kind.size());
    skip_blanks(rest);
    std::int64_t n = 0;
    if (!take_int(rest, n) || !take(rest, "totalling ")) return;
    double ms = 0;
    const std::size_t end = rest.find_first_not_of("0123456789.,");
    std::string digits(rest.substr(0, end));
    std::erase(digits, ',');
    if (end == std::string_view::npos || !rest.substr(end).starts_with("ms") || !parse_double(digits, ms) ||
        n == 0)
      return;
    samples_.add_collections(kind == "full"                 ? "full gc"
                             : kind.starts_with("scavenge") ? "scavenge"
                                                            : kind,
                             n, ms);
    if (kind == "code compaction")
      context_.report.add(
          "code-moved", Severity::info,
          "Generated code was moved while it was sampled; only its last place is known to the profiler, so "
          "samples of moved methods may stand with others.",
          std::nullopt, static_cast<std::uint64_t>(n));
  }

  void take_row(const Row& row) {
    if (!row.is_range) {
      end_method();
      method_ = row.name;
      method_left_ = row.count;
      sections_[table_].listed += row.count;
      return;
    }
    if (method_.empty() || row.count > method_left_) {
      context_.report.add("ranges-above-method", Severity::loss,
                          "Ranges of bytecodes have more samples than their method; they were left out.",
                          offset_);
      return;
    }
    method_left_ -= row.count;
    if (row.count > 0) samples_.add(sections_[table_].name, method_, row.count, &row.range);
  }

  // Samples of a method that are in none of its ranges, or all of one without.
  void end_method() {
    if (!method_.empty() && method_left_ > 0) samples_.add(sections_[table_].name, method_, method_left_);
    method_ = {};
    method_left_ = 0;
  }

  Result<void> finish() {
    if (sections_.empty() && vm_ < 0)
      return fail(ErrorCode::malformed, "no line says how many samples there are");
    std::int64_t in_sections = 0;
    for (const Section& section : sections_) {
      const std::int64_t samples = std::max(section.samples, section.listed);
      in_sections += samples;
      if (section.samples > section.listed) {
        context_.report.add(
            "rows-missing", Severity::loss,
            "Tables list fewer samples than their section has; the rest is shown as (not listed).");
        samples_.add(section.name, "(not listed)", section.samples - section.listed);
      } else if (section.samples >= 0 && section.samples < section.listed) {
        context_.report.add("total-differs", Severity::loss,
                            fmt::format("The table of {} has {} samples, its heading says {}.", section.name,
                                        section.listed, section.samples));
      }
    }
    if (vm_ > in_sections) samples_.add("", "(other VM code)", vm_ - in_sections);
    const std::int64_t vm = std::max(vm_, in_sections);
    if (program_ > vm) samples_.add("", "(outside the VM)", program_ - vm);
    if (program_ >= 0 && samples_.total() != program_)
      context_.report.add("total-differs", Severity::loss,
                          fmt::format("The report says {} samples in the program, its tables have {}.",
                                      program_, samples_.total()));
    return {};
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  Samples samples_;
  std::vector<Section> sections_;
  std::size_t table_ = SIZE_MAX;  // the section whose table is read
  std::string heading_;
  std::string_view method_;
  std::int64_t method_left_ = 0;
  std::int64_t vm_ = -1, program_ = -1;
  std::uint64_t offset_ = 0;
};

}  // namespace

bool is_report(std::string_view text) {
  text = text.substr(0, std::min<std::size_t>(text.size(), 4096));
  return text.find(" samples in the VM") != std::string_view::npos &&
         (text.find("samples in generated vm code") != std::string_view::npos ||
          text.find("samples in vanilla vm code") != std::string_view::npos);
}

Result<void> read_report(std::string_view text, ReadContext& context, ProfileBuilder& builder) {
  return ReportReading(context, builder).run(text);
}

}  // namespace profd::vm_profiler
