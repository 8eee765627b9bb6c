// vtune -report gprof-cc: Intel VTune's call graph in the layout of gprof. For each function its callers
// above and what it calls below; an index of names ends the file.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/call_graph.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".axe"};
constexpr ReaderNotes kNotes{
    .versions = "vtune -report gprof-cc, and amplxe's before it",
    .keeps = "self times; calls and cumulative times as stated; no stacks",
    .recording = "vtune -report gprof-cc -result-dir r000hs -format text -report-out out.axe",
    .verified = "gprof2dot on two corpus files: functions, shares of the top functions",
};
constexpr std::string_view kSpontaneous = "<spontaneous>", kIndexTitle = "Index by function name";
constexpr std::size_t kMaxFunctions = 1u << 24;

// Where the columns begin, as the line of dashes shows.
struct Layout {
  std::size_t percent = 0, self = 0, children = 0, name = 0;
};

struct Line {
  bool primary = false;
  bool has_self = false;
  std::int64_t self = 0, children = 0;
  std::string_view name;
  std::uint64_t index = 0;
  bool has_index = false;
};

std::string_view column(std::string_view line, std::size_t from, std::size_t to) {
  return from >= line.size() ? std::string_view{} : trim(line.substr(from, to - from));
}

// A decimal number times `scale`, exactly; `scale` is a power of ten.
bool parse_scaled(std::string_view text, std::int64_t scale, std::int64_t& out) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::uint64_t whole = 0, part = 0;
  std::string_view decimals = dot == text.size() ? std::string_view{} : text.substr(dot + 1);
  while (decimals.ends_with('0')) decimals.remove_suffix(1);
  if (!parse_uint(text.substr(0, dot), whole) || (!decimals.empty() && !parse_uint(decimals, part)))
    return false;
  std::int64_t unit = scale;
  for (std::size_t i = 0; i < decimals.size(); ++i, unit /= 10) {
    if (unit % 10 != 0) return false;
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (whole >= kMax / static_cast<std::uint64_t>(scale)) return false;
  out = static_cast<std::int64_t>(whole) * scale + static_cast<std::int64_t>(part) * unit;
  if (negative) out = -out;
  return true;
}

std::optional<Layout> layout_of(std::string_view dashes) {
  std::array<std::size_t, 6> starts{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < dashes.size(); ++i) {
    if (dashes[i] != '-' && dashes[i] != ' ') return std::nullopt;
    if (dashes[i] != '-' || (i > 0 && dashes[i - 1] == '-')) continue;
    if (n == starts.size()) return std::nullopt;
    starts[n++] = i;
  }
  if (n != starts.size()) return std::nullopt;
  return Layout{starts[1], starts[2], starts[3], starts[4]};
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    LineReader lines(text_.text);
    std::string_view title, dashes;
    if (lines.next(title)) lines.next(dashes);
    const auto layout = layout_of(trim(dashes).empty() ? std::string_view{} : dashes);
    if (!title.starts_with("Index") || !layout)
      return fail(ErrorCode::malformed, "the file does not begin with the header of a gprof-cc report", 0);
    layout_ = *layout;
    std::string_view metric = column(title, layout_.self, layout_.children);
    if (const std::size_t colon = metric.find(':'); colon != std::string_view::npos)
      metric = metric.substr(0, colon);
    const bool time = metric.find("Time") != std::string_view::npos;
    scale_ = time ? 1'000'000'000 : 1;
    metric_ =
        builder_.add_metric(metric.empty() ? "self" : repair_utf8(metric), time ? "nanoseconds" : "count");

    bool ended = false;
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      if (line.starts_with(kIndexTitle)) {
        ended = true;
        break;
      }
      if (trim(line).empty()) {
        end_block();
        continue;
      }
      PROFD_CHECK(read_line(line, text_.offset + lines.offset()));
    }
    end_block();
    if (functions_.empty()) return fail(ErrorCode::malformed, "no function is described", lines.position());
    if (!ended) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "the file ends before its index of names",
                    text_.offset + text_.text.size());
      context_.report.add("truncated", Severity::error, "the file ends early; what came before was read",
                          text_.offset + text_.text.size());
    }
    build();
    return {};
  }

 private:
  struct Function {
    std::string_view name;
    std::int64_t self = 0, children = 0;
    bool described = false, entry = false;
  };
  struct Edge {
    std::uint32_t caller, callee;
    std::int64_t self = 0, children = 0;
  };

  void malformed(std::uint64_t offset) {
    context_.report.add("malformed-line", Severity::loss,
                        "lines that are no function with its values were not read", offset);
  }

  bool parse(std::string_view text, Line& out) const {
    out.primary = text.starts_with('[');
    const std::string_view self = column(text, layout_.self, layout_.children),
                           children = column(text, layout_.children, layout_.name);
    out.has_self = !self.empty();
    if (out.has_self &&
        (!parse_scaled(self, scale_, out.self) || !parse_scaled(children, scale_, out.children)))
      return false;
    // "name  [12]".
    std::string_view name = column(text, layout_.name, text.size());
    if (name.ends_with(']')) {
      const std::size_t open = name.rfind('[');
      if (open != std::string_view::npos &&
          parse_uint(name.substr(open + 1, name.size() - open - 2), out.index)) {
        out.has_index = true;
        name = trim(name.substr(0, open));
      }
    }
    out.name = name;
    return !name.empty() && (out.has_index || name == kSpontaneous);
  }

  Result<void> read_line(std::string_view text, std::uint64_t offset) {
    Line line;
    if (!parse(text, line)) {
      malformed(offset);
      return {};
    }
    if (functions_.size() >= kMaxFunctions)
      return fail(ErrorCode::limit, "more than 16777216 functions", offset);
    const bool outside = line.name == kSpontaneous;
    const bool cycle = line.name.starts_with("<cycle ") && line.name.ends_with(" as a whole>");
    if (line.primary) {
      in_block_ = true;
      skipped_ = outside || cycle;
      if (outside) {
        from_outside_ = true;
        return {};
      }
      if (skipped_) return {};
      current_ = function(line);
      Function& own = functions_[current_];
      if (own.described || !line.has_self) {
        malformed(offset);
        return {};
      }
      own.described = true;
      own.self = line.self;
      own.children = line.children;
      own.entry |= called_from_outside_;
      return {};
    }
    if (!in_block_) {
      called_from_outside_ |= outside;
      return {};  // the same call stands below its caller
    }
    if (outside || cycle) return {};
    if (from_outside_) functions_[function(line)].entry = true;
    if (!skipped_ && !from_outside_) edges_.push_back({current_, function(line), line.self, line.children});
    return {};
  }

  void end_block() { in_block_ = skipped_ = from_outside_ = called_from_outside_ = false; }

  std::uint32_t function(const Line& line) {
    const auto [at, is_new] =
        by_index_.try_emplace(line.index, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
      std::string_view name = line.name;
      if (name.ends_with('>')) {
        if (const std::size_t cycle = name.rfind(" <cycle "); cycle != std::string_view::npos)
          name = trim(name.substr(0, cycle));
      }
      functions_.push_back({name});
    }
    return at->second;
  }

  FrameId frame(std::string_view name) {
    FrameSpec spec;
    const bool unresolved = name.starts_with("func@0x") && parse_hex(name.substr(5), spec.address);
    spec.function = builder_.function(
        FunctionSpec{.name = builder_.string(unresolved ? "[unknown]" : name), .unresolved = unresolved});
    return builder_.frame(spec);
  }

  void build() {
    std::vector<FrameId> frames;
    for (const Function& function : functions_) frames.push_back(frame(function.name));
    CallGraph graph(frames);
    std::vector<std::int64_t> of_edges(functions_.size());
    for (const Edge& edge : edges_) {
      graph.add_edge(edge.caller, edge.callee);
      of_edges[edge.callee] += edge.self;
    }
    std::uint64_t n_unlisted = 0;
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      if (functions_[f].entry) graph.mark_entry(f);
      n_unlisted += !functions_[f].described;
    }
    graph.place(builder_);
    // Rounded shares of the callers can be more than the whole: then only that is used.
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      if (edge.self != 0 && of_edges[edge.callee] <= functions_[edge.callee].self)
        builder_.add_self(graph.edge_context(e), metric_, edge.self);
    }
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      const std::int64_t rest = functions_[f].self - (of_edges[f] <= functions_[f].self ? of_edges[f] : 0);
      if (rest != 0) builder_.add_self(graph.context(f), metric_, rest);
    }
    add_associations(graph);
    state(frames);
    builder_.info().producer = "Intel VTune";
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) { context_.report.add(kind, severity, message, std::nullopt, n); };
    row("call-graph", Severity::info,
        "The file holds a call graph and no stacks. These functions have several callers: what they call "
        "stands "
        "under [several callers], and sums over paths are lower bounds.",
        graph.n_several_callers());
    row("unlisted-function", Severity::loss, "functions that are called and not described", n_unlisted);
  }

  void state(const std::vector<FrameId>& frames) {
    builder_.state_costs({metric_});
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      const Value total = functions_[f].self + functions_[f].children;
      builder_.state_function(
          frames[f], functions_[f].described ? std::span<const Value>(&total, 1) : std::span<const Value>());
    }
    for (const Edge& edge : edges_) {
      const Value total = edge.self + edge.children;
      builder_.state_call(frames[edge.caller], frames[edge.callee], std::span<const Value>(&total, 1));
    }
  }

  void add_associations(CallGraph& graph) {
    AssociationTable calls;
    std::vector<std::uint32_t> callers, callees;
    std::vector<std::int64_t> self, total;
    const auto add_column = [](AssociationTable& table, std::vector<std::uint32_t> contexts) {
      table.contexts.emplace_back(std::move(contexts));
    };
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      callers.push_back(graph.context(edges_[e].caller).v);
      callees.push_back(graph.edge_context(e).v);
      self.push_back(edges_[e].self);
      total.push_back(edges_[e].self + edges_[e].children);
    }
    const std::string unit = scale_ == 1 ? "count" : "nanoseconds";
    calls.name = "calls";
    calls.roles = {"caller", "callee"};
    calls.metrics = {{"time", unit}, {"cumulative_time", unit}};
    add_column(calls, std::move(callers));
    add_column(calls, std::move(callees));
    calls.values.emplace_back(Column<std::int64_t>(std::move(self)));
    calls.values.emplace_back(Column<std::int64_t>(std::move(total)));
    if (!edges_.empty()) builder_.add_association(std::move(calls));
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Layout layout_;
  std::int64_t scale_ = 1;
  MetricId metric_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_index_;
  std::vector<Function> functions_;
  std::vector<Edge> edges_;
  bool in_block_ = false, skipped_ = false, from_outside_ = false, called_from_outside_ = false;
  std::uint32_t current_ = 0;
};

class VtuneGprofccReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"vtune-gprofcc",
                                 "Intel VTune gprof-cc report",
                                 kExtensions,
                                 586,
                                 "vtune -report gprof-cc, Intel Amplifier (axe)",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    LineReader lines(sniff_text(prefix));
    std::string_view title, dashes;
    if (!lines.next(title) || !lines.next(dashes)) return Confidence::no;
    return title.starts_with("Index ") && title.find(":Self") != std::string_view::npos &&
                   title.find(":Children") != std::string_view::npos && layout_of(dashes)
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_vtune_gprofcc_reader() {
  return std::make_unique<VtuneGprofccReader>();
}

}  // namespace profd
