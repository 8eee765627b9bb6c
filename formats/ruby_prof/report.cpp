#include "formats/ruby_prof/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/ruby_prof/row.h"
#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::ruby_prof {
namespace {

constexpr std::array<Mode, 7> kModes{{{"wall_time", "nanoseconds", 9},
                                      {"process_time", "nanoseconds", 9},
                                      {"cpu_time", "nanoseconds", 9},
                                      {"gc_time", "nanoseconds", 9},
                                      {"gc_runs", "count", 0},
                                      {"allocations", "count", 0},
                                      {"memory", "bytes", 0}}};

// Half of the last digit that is printed of a time, in nanoseconds.
constexpr std::int64_t kHalfMillisecond = 500'000;
// ruby-prof prints shares in hundredths of a percent.
constexpr double kShare = 1e-4;

class Reading {
 public:
  Reading(std::string_view text, std::size_t base, ReadContext& context)
      : text_(text), base_(base), context_(context) {}

  Result<std::vector<Section>> run() {
    LineReader lines(text_);
    PROFD_CHECK(each_line(lines, context_, {.step = 1u << 20}, [&](std::string_view line) {
      at_ = base_ + lines.offset();
      last_ = lines.position() >= text_.size();
      ended_ = lines.ended();
      return read_line(line);
    }));
    // ruby-prof explains the columns behind every table.
    if (in_ == In::flat || in_ == In::graph)
      context_.report.add("table-cut", Severity::loss,
                          "the file ends inside a table: rows, or the end of a name, may be missing", at_);
    PROFD_CHECK(end_section());
    if (sections_.empty()) return fail(ErrorCode::malformed, "the file has no report of ruby-prof", base_);
    if (n_rows_ == 0) return fail(ErrorCode::malformed, "the tables of the file have no row", at_);
    row("rounded-times", Severity::info,
        "times are printed to the millisecond and as hundredths of a percent of the total: the finer is "
        "taken",
        n_refined_, first_refined_);
    row("shares-disagree", Severity::loss, "a method's share of the total is not that of its time",
        n_disagree_, first_disagree_);
    row("same-name", Severity::loss,
        "methods at several places have one name: calls that name it are given to the first", n_same_name_,
        first_same_name_);
    return std::move(sections_);
  }

 private:
  enum class In : std::uint8_t { text, head, flat, graph };

  Section& section() { return sections_.back(); }

  Result<void> read_line(std::string_view line) {
    constexpr std::string_view kModeKey = "Measure Mode: ";
    if (line.starts_with(kModeKey)) {
      PROFD_CHECK(end_section());
      return begin_section(trim(line.substr(kModeKey.size())));
    }
    if (in_ == In::head) return read_head(line);
    if (in_ == In::flat) return read_flat(line);
    if (in_ == In::graph) return read_graph(line);
    return {};
  }

  Result<void> begin_section(std::string_view mode) {
    const Mode* const known = find_mode(mode);
    if (known == nullptr)
      return fail(ErrorCode::unsupported, fmt::format("the measure mode {} is not known", mode.substr(0, 40)),
                  at_);
    sections_.emplace_back();
    section().mode = known;
    section().offset = at_;
    in_ = In::head;
    return {};
  }

  Result<void> read_head(std::string_view line) {
    const auto value = [&](std::string_view key) -> std::optional<std::string_view> {
      if (!line.starts_with(key)) return std::nullopt;
      return trim(line.substr(key.size()));
    };
    if (const auto id = value("Thread ID: ")) {
      if (!parse_int(*id, section().thread))
        return fail(ErrorCode::malformed, "the id of a thread is no number", at_);
    } else if (const auto fiber = value("Fiber ID: ")) {
      if (!parse_int(*fiber, section().fiber))
        return fail(ErrorCode::malformed, "the id of a fiber is no number", at_);
    } else if (const auto flat = value("Total: ")) {
      return read_total(*flat);
    } else if (const auto graph = value("Total Time: ")) {
      return read_total(*graph);
    } else if (is_flat_header(line)) {
      return begin_table(In::flat, line);
    } else if (is_graph_header(line)) {
      return begin_table(In::graph, line);
    }
    return {};
  }

  Result<void> read_total(std::string_view text) {
    double total = 0;
    if (!parse_double(text, total) || !(std::abs(total) * std::pow(10, section().mode->power) < 9e18))
      return fail(ErrorCode::malformed, "the total of a thread is no number", at_);
    section().total = std::llround(total * std::pow(10, section().mode->power));
    has_total_ = true;
    return {};
  }

  Result<void> begin_table(In in, std::string_view header) {
    // Before 1.0 memory was printed in kilobytes, and there was no such column.
    if (section().mode->name == "memory" && header.find("location") == std::string_view::npos)
      return fail(ErrorCode::unsupported,
                  "this report of an old ruby-prof does not say in what unit memory is", at_);
    if (!has_total_) return fail(ErrorCode::malformed, "a table stands before the total of its thread", at_);
    in_ = in;
    section().is_graph = in == In::graph;
    return {};
  }

  // Seconds or whole numbers as written.
  Result<std::int64_t> measured(std::string_view text) {
    std::int64_t value = 0;
    if (!scaled_decimal(text, section().mode->power, value))
      return fail(ErrorCode::malformed,
                  fmt::format("{} is no number of {} that fits", text.substr(0, 40), section().mode->unit),
                  at_);
    return value;
  }

  // What is printed as a time and as a share of the total lies where both can be: the finer of the two, moved
  // by no more than what the coarser leaves open.
  Result<std::int64_t> refined(std::string_view text, std::string_view share_text) {
    PROFD_TRY(const std::int64_t printed, measured(text));
    std::int64_t hundredths = 0;
    if (section().mode->power != 9 || !scaled_decimal(share_text, 2, hundredths)) return printed;
    const auto total = static_cast<double>(section().total);
    const double share = static_cast<double>(hundredths) * kShare * total;
    // The total of the flat table is itself rounded, to microseconds.
    const double half = std::abs(kShare / 2 * total) + 1000;
    if (!(half < static_cast<double>(kHalfMillisecond))) return printed;
    const double off = share - static_cast<double>(printed);
    if (!(std::abs(off) <= half + static_cast<double>(kHalfMillisecond))) {
      note(n_disagree_, first_disagree_);
      return printed;
    }
    note(n_refined_, first_refined_);
    const std::int64_t by = std::llround(off);
    return printed + std::clamp(by, -kHalfMillisecond, kHalfMillisecond);
  }

  // A line of a table that is none. The last one of a file can be cut.
  Result<void> odd_line(std::string_view what) {
    if (!last_ || ended_)
      return fail(ErrorCode::malformed, fmt::format("a line of the {} is none", what), at_);
    if (!context_.partial)
      return fail(ErrorCode::truncated, fmt::format("the {} is cut off inside a line", what), at_);
    context_.report.add("line-cut", Severity::loss, "the last line is cut off and left out", at_);
    return {};
  }

  Result<void> read_flat(std::string_view line) {
    if (trim(line).empty()) return end_section();
    Row row;
    if (!parse_flat(line, row)) return odd_line("flat profile");
    ++n_rows_;
    PROFD_TRY(const std::int64_t total, measured(row.total));
    PROFD_CHECK(add_method(row, total));
    return {};
  }

  Result<void> read_graph(std::string_view line) {
    const std::string_view part = trim(line);
    if (part.empty()) return end_section();
    if (part.find_first_not_of('-') == std::string_view::npos) return end_block();
    Row row;
    if (!parse_graph(line, row)) return odd_line("graph profile");
    if (row.of_method) {
      if (method_) return fail(ErrorCode::malformed, "a block of the graph profile is of two methods", at_);
      ++n_rows_;
      PROFD_TRY(const std::int64_t total, refined(row.total, row.total_share));
      PROFD_TRY(method_, add_method(row, total));
      return {};
    }
    Edge edge{};
    edge.calls = row.calls;
    PROFD_TRY(edge.total, measured(row.total));
    PROFD_TRY(edge.self, measured(row.self));
    PROFD_TRY(edge.wait, measured(row.wait));
    const std::uint32_t other = named(row.name);
    if (method_) {
      edge.caller = *method_;
      edge.callee = other;
      section().edges.push_back(edge);
    } else {
      edge.caller = other;
      callers_.push_back(edge);
    }
    return {};
  }

  Result<void> end_block() {
    if (!method_ && !callers_.empty()) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "a block of the graph profile does not say which method it is of",
                    at_);
      context_.report.add("block-cut", Severity::loss, "a block without its method is left out", at_);
    }
    for (Edge& edge : callers_) {
      if (!method_) break;
      edge.callee = *method_;
      from_callers_.push_back(edge);
    }
    callers_.clear();
    method_.reset();
    return {};
  }

  // The method of that name, which may not have had its row yet.
  std::uint32_t named(std::string_view name) {
    const auto [found, is_new] =
        by_name_.try_emplace(name, static_cast<std::uint32_t>(section().methods.size()));
    if (is_new) section().methods.emplace_back().name = name;
    return found->second;
  }

  Result<std::uint32_t> add_method(const Row& row, std::int64_t total) {
    PROFD_TRY(const std::int64_t self, refined(row.self, row.self_share));
    PROFD_TRY(const std::int64_t wait, measured(row.wait));
    std::uint32_t id = named(row.name);
    if (section().methods[id].listed) {
      note(n_same_name_, first_same_name_);
      id = static_cast<std::uint32_t>(section().methods.size());
      section().methods.emplace_back().name = row.name;
    }
    Method& method = section().methods[id];
    method.file = row.file;
    method.line = row.line;
    method.calls = row.calls;
    method.total = total;
    method.self = self;
    method.wait = wait;
    method.listed = true;
    return id;
  }

  Result<void> end_section() {
    if (in_ == In::head)
      return fail(ErrorCode::truncated, "a report ends before its table", section().offset);
    if (in_ == In::text) return {};
    PROFD_CHECK(end_block());
    // A call stands in the block of the caller and in that of the callee; a block can be left out.
    for (const Edge& edge : from_callers_)
      if (!section().methods[edge.caller].listed) section().edges.push_back(edge);
    check_sum();
    from_callers_.clear();
    by_name_.clear();
    has_total_ = false;
    in_ = In::text;
    return {};
  }

  // min_percent leaves methods out of the report, and nothing in it says so.
  void check_sum() {
    const auto total = static_cast<double>(section().total);
    const bool rounded = section().mode->power == 9;
    // Of a self time; waits are printed to the millisecond alone.
    const double half = std::min<double>(kHalfMillisecond, kShare / 2 * std::abs(total) + 1000);
    double sum = 0, open = rounded ? 1000 : 0;
    for (const Method& method : section().methods) {
      sum += static_cast<double>(method.self) + static_cast<double>(method.wait);
      if (!rounded || !method.listed) continue;
      open += half + (method.wait != 0 ? static_cast<double>(kHalfMillisecond) : 0);
    }
    if (total - sum > open)
      context_.report.add("methods-left-out", Severity::info,
                          "the methods do not add up to the total of their thread: the report leaves some "
                          "out (min_percent), or they waited for less than is printed",
                          section().offset);
  }

  void note(std::uint64_t& n, std::uint64_t& first) {
    if (n++ == 0) first = at_;
  }
  void row(std::string_view kind, Severity severity, std::string_view message, std::uint64_t n,
           std::uint64_t first) {
    if (n > 0) context_.report.add(kind, severity, message, first, n);
  }

  std::string_view text_;
  std::size_t base_;
  ReadContext& context_;
  std::vector<Section> sections_;
  In in_ = In::text;
  bool has_total_ = false, last_ = false, ended_ = false;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;  // of the section
  std::optional<std::uint32_t> method_;                          // of the block
  std::vector<Edge> callers_, from_callers_;                     // of the block, of the section
  std::uint64_t at_ = 0, n_rows_ = 0;
  std::uint64_t n_refined_ = 0, n_disagree_ = 0, n_same_name_ = 0;
  std::uint64_t first_refined_ = 0, first_disagree_ = 0, first_same_name_ = 0;
};

}  // namespace

const Mode* find_mode(std::string_view name) {
  for (const Mode& mode : kModes)
    if (mode.name == name) return &mode;
  return nullptr;
}

Result<std::vector<Section>> read_sections(std::string_view text, std::size_t offset, ReadContext& context) {
  return Reading(text, offset, context).run();
}

}  // namespace profd::ruby_prof
