// gprof's report, docs/formats/gprof-text.md.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "formats/gprof_text/entry.h"
#include "formats/support/cost_graph.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace gprof_text;

constexpr std::array<std::string_view, 2> kExtensions{".gprof", ".gprof.txt"};
constexpr ReaderNotes kNotes{
    .versions = "flat profiles and call graphs of GNU, BSD, macOS, AIX and embedded gprof; -l",
    .keeps = "self times or cycles; calls, and inclusive times as gprof prints them; no stacks",
    .recording = "gcc -pg -o app app.c && ./app && gprof ./app gmon.out > app.gprof.txt",
    .verified =
        "the reports' own tables: total and top functions of seven files, calls and inclusive times of one",
};

// embedded gprof counts cycles: its headers are of two lines, of which the second has the unit.
bool is_cycle_header(std::string_view line) {
  line = trim(line);
  return line.starts_with('%') && line.find("cycles") != std::string_view::npos &&
         line.find("calls") != std::string_view::npos;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    survey();
    if (!has_flat_ && !has_graph_)
      return fail(ErrorCode::malformed, "the file has neither a flat profile nor a call graph", 0);
    builder_.info().producer = "gprof";
    graph_.emplace(builder_,
                   std::vector<CostGraph::Event>{cycles_ ? CostGraph::Event{"cycles", "count"}
                                                         : CostGraph::Event{"time", "nanoseconds"}},
                   CostGraph::Options{});
    LineReader lines(text_.text);
    enum class In : std::uint8_t { text, flat, graph } in = In::text;
    for (std::string_view line; lines.next(line);) {
      offset_ = text_.offset + lines.offset();
      if (line.find('\f') != std::string_view::npos) {
        PROFD_CHECK(end_block());
        in = In::text;
        continue;
      }
      if (is_flat_header(line) || is_cycle_header(line)) {
        PROFD_CHECK(end_block());
        in = In::flat;
        continue;
      }
      if (is_graph_header(line)) {
        in = In::graph;
        continue;
      }
      if (in == In::flat) {
        PROFD_CHECK(read_flat(line, in_flat_rows_));
        if (flat_ended_) in = In::text;
      } else if (in == In::graph) {
        PROFD_CHECK(read_graph(line));
        if (graph_ended_) in = In::text;
      }
    }
    PROFD_CHECK(end_block());
    PROFD_CHECK(add_outside_calls());
    add_lines_without_block();
    if (n_rows_ == 0) return fail(ErrorCode::malformed, "the tables of the file have no row", offset_);
    return graph_->finish(context_.report);
  }

 private:
  void survey() {
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      has_flat_ |= is_flat_header(line) || is_cycle_header(line);
      has_graph_ |= is_graph_header(line);
      cycles_ |= is_cycle_header(line);
      constexpr std::string_view kEach = "Each sample counts as ";
      if (line.starts_with(kEach)) {
        std::string_view rest = line.substr(kEach.size());
        const std::string_view number = rest.substr(0, rest.find(' '));
        std::int64_t period;
        if (rest.ends_with("seconds.") && scaled_decimal(number, 9, period) && period > 0) {
          builder_.info().period = period;
          builder_.info().period_type = "time";
          builder_.info().period_unit = "nanoseconds";
        }
      }
    }
  }

  // Seconds, or thousands of cycles.
  Result<std::int64_t> measured(std::string_view text) {
    std::int64_t value = 0;
    if (text.empty()) return value;
    if (!scaled_decimal(text, cycles_ ? 3 : 9, value))
      return fail(ErrorCode::malformed, fmt::format("{} is no time", text.substr(0, 40)), offset_);
    return value;
  }

  CostGraph::Node node_of(const Name& name) {
    const StringId text = builder_.string(name.name);
    const auto [found, is_new] = functions_.try_emplace(text.v);
    if (is_new) found->second = builder_.function({.name = text, .file = builder_.string(name.file)});
    FrameSpec frame;
    frame.function = found->second;
    frame.line = name.line;
    frame.address = name.address;
    if (!name.file.empty()) frame.file = builder_.string(name.file);
    return {found->second, {}, builder_.frame(frame)};
  }

  Result<void> read_flat(std::string_view line, bool& in_rows) {
    FlatRow row;
    flat_ended_ = false;
    if (!parse_flat(line, row)) {
      // The second and third lines of the header come before the rows; anything else ends them.
      if (in_rows && !trim(line).empty()) {
        flat_ended_ = true;
        in_rows = false;
      }
      if (in_rows && trim(line).empty()) flat_ended_ = true;
      return {};
    }
    in_rows = true;
    ++n_rows_;
    PROFD_TRY(const std::int64_t self, measured(row.self));
    const CostGraph::Node node = node_of(row.name);
    graph_->add_self(node, std::span(&self, 1));
    if (has_graph_ && self != 0) flat_.push_back({node, self});
    if (!has_graph_ && row.has_calls) graph_->add_entries(node, row.calls);
    return {};
  }

  Result<void> read_graph(std::string_view line) {
    graph_ended_ = false;
    const std::string_view part = trim(line);
    if (part.empty()) return {};
    if (part.find_first_not_of('-') == std::string_view::npos) return end_block();
    GraphRow row;
    if (!parse_graph(line, row)) {
      // The last line of the header, BSD's or that of embedded gprof; or the explanation behind the table.
      if (part.starts_with("called/total") || part.find("(K)") != std::string_view::npos) return {};
      if (block_.empty()) {
        graph_ended_ = true;
        return {};
      }
      return fail(ErrorCode::malformed, "a line of the call graph is none", offset_);
    }
    if (!row.spontaneous) block_.push_back(row);
    return {};
  }

  Result<std::int64_t> sum_of(std::span<const GraphRow> rows) {
    std::int64_t sum = 0;
    for (const GraphRow& row : rows) {
      PROFD_TRY(const std::int64_t self, measured(row.self));
      PROFD_TRY(const std::int64_t children, measured(row.children));
      if (__builtin_add_overflow(sum, self, &sum) || __builtin_add_overflow(sum, children, &sum))
        return fail(ErrorCode::malformed, "a time is too large", offset_);
    }
    return sum;
  }

  // A block has its callers, its function, and what that calls.
  Result<void> end_block() {
    std::vector<GraphRow> block = std::move(block_);
    block_.clear();
    if (block.empty()) return {};
    std::size_t primary = 0;
    while (primary < block.size() && !block[primary].primary) ++primary;
    if (primary == block.size()) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "a block of the call graph does not say which function it is of",
                    offset_);
      context_.report.add("block-cut", Severity::loss,
                          "blocks of the call graph that were cut off are left out", offset_);
      return {};
    }
    const GraphRow& of = block[primary];
    ++n_rows_;
    // The members of a cycle have blocks of their own.
    if (of.whole_cycle) return {};
    const CostGraph::Node caller = node_of(of.name);
    has_block_.insert(caller.frame.v);
    described_.insert(caller.function.v);
    for (std::size_t i = 0; i < primary; ++i) callers_.push_back({block[i], caller, offset_});
    if (!has_flat_) {
      PROFD_TRY(const std::int64_t self, measured(of.self));
      graph_->add_self(caller, std::span(&self, 1));
    }
    PROFD_TRY(const std::int64_t own, measured(of.self));
    PROFD_TRY(const std::int64_t below, measured(of.children));
    std::int64_t total = own;
    if (__builtin_add_overflow(own, below, &total))
      return fail(ErrorCode::malformed, "a time is too large", offset_);
    if (of.name.in_cycle) {
      // The row of a member leaves out the rest of its cycle; those who call it from outside have it all.
      PROFD_TRY(const std::int64_t from_outside, sum_of(std::span(block).first(primary)));
      total = std::max(total, from_outside);
    }
    graph_->add_total(caller, std::span(&total, 1));
    // GNU's gprof says it once more among the callees.
    const bool listed = std::any_of(block.begin() + static_cast<std::ptrdiff_t>(primary) + 1, block.end(),
                                    [&](const GraphRow& row) { return row.name.name == of.name.name; });
    if (of.recursive > 0 && !listed) graph_->add_call(caller, caller, of.recursive, {});
    for (std::size_t i = primary + 1; i < block.size(); ++i) {
      PROFD_TRY(const std::int64_t self, measured(block[i].self));
      PROFD_TRY(const std::int64_t children, measured(block[i].children));
      std::int64_t inclusive = self;
      if (__builtin_add_overflow(self, children, &inclusive))
        return fail(ErrorCode::malformed, "a time is too large", offset_);
      if (block[i].self.empty())
        context_.report.add("calls-inside-cycle", Severity::info,
                            "calls between functions of a cycle have no times", offset_);
      graph_->add_call(caller, node_of(block[i].name), block[i].called,
                       std::span<const std::int64_t>(&inclusive, block[i].self.empty() ? 0 : 1));
    }
    return {};
  }

  // The callers in a block say the same as the callees in another, but for callers that have no block: BSD's
  // gprof leaves out what took no time itself.
  Result<void> add_outside_calls() {
    for (const Caller& call : callers_) {
      if (call.row.whole_cycle) continue;
      const CostGraph::Node caller = node_of(call.row.name);
      if (has_block_.contains(caller.frame.v)) continue;
      offset_ = call.offset;
      PROFD_TRY(const std::int64_t self, measured(call.row.self));
      PROFD_TRY(const std::int64_t children, measured(call.row.children));
      std::int64_t inclusive = self;
      if (__builtin_add_overflow(self, children, &inclusive))
        return fail(ErrorCode::malformed, "a time is too large", offset_);
      graph_->add_call(caller, call.callee, call.row.called,
                       std::span<const std::int64_t>(&inclusive, call.row.self.empty() ? 0 : 1));
    }
    return {};
  }

  // Of a report by line the call graph has lines with calls alone; the others are parts of their function,
  // too.
  void add_lines_without_block() {
    for (const auto& [node, self] : flat_)
      if (described_.contains(node.function.v) && !has_block_.contains(node.frame.v))
        graph_->add_total(node, std::span(&self, 1));
  }

  struct FlatLine {
    CostGraph::Node node;
    std::int64_t self;
  };
  struct Caller {
    GraphRow row;
    CostGraph::Node callee;
    std::uint64_t offset;
  };

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<Caller> callers_;
  std::unordered_set<std::uint32_t> has_block_;  // by frame: reports by line have several of a function
  std::unordered_set<std::uint32_t> described_;  // functions of which a block is there
  std::vector<FlatLine> flat_;                   // in files with a call graph
  std::optional<CostGraph> graph_;
  std::unordered_map<std::uint32_t, FunctionId> functions_;
  bool has_flat_ = false, has_graph_ = false, cycles_ = false;
  bool in_flat_rows_ = false, flat_ended_ = false, graph_ended_ = false;
  std::vector<GraphRow> block_;
  std::size_t n_rows_ = 0;
  std::uint64_t offset_ = 0;
};

class GprofTextReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "gprof-text", "gprof report", kExtensions, 730, "GNU, BSD, macOS and AIX gprof", 3, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    LineReader lines(text);
    bool flat = false;
    int after = 0;
    for (std::string_view line; lines.next(line);) {
      if (is_graph_header(line)) return Confidence::certain;
      if (is_flat_header(line) || is_cycle_header(line)) flat = true;
      FlatRow row;
      if (flat && parse_flat(line, row)) return Confidence::certain;
      if (flat && ++after > 8) return Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_gprof_text_reader() {
  return std::make_unique<GprofTextReader>();
}

}  // namespace profd
