#include "formats/pstats/sampled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/support/checked.h"
#include "formats/support/cost_graph.h"
#include "formats/support/cycles.h"

namespace profd::pstats {
namespace {

constexpr std::string_view kCollector = "<GC>";

class Sampled {
 public:
  Sampled(std::span<const Function> functions, std::span<const Edge> edges, ReadContext& context,
          ProfileBuilder& builder)
      : functions_(functions),
        edges_(edges),
        context_(context),
        builder_(builder),
        graph_(builder, {{"time", "nanoseconds"}, {"samples", "count"}},
               {.counted = false, .entries_by_cost = true}) {}

  Result<void> run() {
    PROFD_CHECK(check());
    std::vector<CostGraph::Node> nodes;
    for (const Function& function : functions_) {
      const CostGraph::Node node = node_of(function);
      nodes.push_back(node);
      if (!function.listed) {
        ++n_unlisted_;
        graph_.add_function(node);
        continue;
      }
      const Numbers& n = function.numbers;
      graph_.add_self(node, std::array{nanoseconds(n.self), n.primitive_calls});
      graph_.add_total(node, std::array{nanoseconds(n.cumulative), n.calls});
      n_disagree_ += n.primitive_calls > n.calls ? 1 : 0;
    }
    add_calls(nodes);
    builder_.info().producer = "profiling.sampling";
    PROFD_CHECK(graph_.finish(context_.report));
    report();
    return {};
  }

 private:
  Result<void> check() const {
    for (const Function& function : functions_)
      if (!function.numbers.counted)
        return fail(ErrorCode::malformed, "a sampled function's samples are no numbers");
    return {};
  }

  std::int64_t nanoseconds(double seconds) {
    const double whole = std::round(seconds * 1e9);
    if (std::abs(whole) < 9e18) return static_cast<std::int64_t>(whole);
    ++n_clamped_;
    return whole < 0 ? -9'000'000'000'000'000'000 : 9'000'000'000'000'000'000;
  }

  CostGraph::Node node_of(const Function& function) {
    const bool outside = function.file == kBuiltinFile;
    FunctionSpec spec;
    spec.name = builder_.string(function.name.empty() ? "(unnamed)" : function.name);
    if (!outside) spec.file = builder_.string(function.file);
    FrameSpec frame;
    frame.function = builder_.function(spec);
    frame.kind = !outside                      ? FrameKind::interpreted
                 : function.name == kCollector ? FrameKind::gc
                                               : FrameKind::native;
    // 0 and -1 stand for a line that was not known.
    if (function.line > 0 && function.line < kNone)
      frame.line = static_cast<std::uint32_t>(function.line);
    else if (function.line != 0 && function.line != -1)
      ++n_odd_lines_;
    return {frame.function, {}, builder_.frame(frame)};
  }

  void add_calls(const std::vector<CostGraph::Node>& nodes) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    pairs.reserve(edges_.size());
    for (const Edge& edge : edges_) pairs.emplace_back(edge.caller, edge.callee);
    const auto component = find_components(static_cast<std::uint32_t>(functions_.size()), pairs);
    for (const Edge& edge : edges_) {
      const Numbers &caller = functions_[edge.caller].numbers, &callee = functions_[edge.callee].numbers;
      const std::int64_t n = edge.numbers.calls;
      const auto add = [&](std::span<const std::int64_t> costs) {
        graph_.add_call(nodes[edge.caller], {nodes[edge.callee].function, {}, {}}, 0, costs);
      };
      if (component[edge.caller] == component[edge.callee]) {
        ++n_recursive_;
        add({});
      } else if (n > callee.calls || (functions_[edge.caller].listed && n > caller.calls)) {
        ++n_disagree_;
        add({});
      } else {
        const double interval = callee.calls > 0 ? callee.cumulative / static_cast<double>(callee.calls) : 0;
        add(std::array{nanoseconds(static_cast<double>(n) * interval), n});
      }
    }
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("recursive-calls", Severity::info,
        "What calls within a recursion cost is not in the file: it counts them several times a sample.",
        n_recursive_);
    row("unlisted-caller", Severity::info, "Functions stand in the file as callers only, without times.",
        n_unlisted_);
    row("samples-disagree", Severity::loss,
        "Lines or calls have more samples than the line, or than they can have.", n_disagree_);
    row("clamped-time", Severity::loss, "Times beyond 64 bits of nanoseconds were cut.", n_clamped_);
    row("odd-line", Severity::loss, "Lines that are no line numbers were dropped.", n_odd_lines_);
  }

  std::span<const Function> functions_;
  std::span<const Edge> edges_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  CostGraph graph_;
  std::uint64_t n_unlisted_ = 0, n_recursive_ = 0, n_disagree_ = 0, n_clamped_ = 0, n_odd_lines_ = 0;
};

}  // namespace

Result<void> build_sampled(std::span<const Function> functions, std::span<const Edge> edges,
                           ReadContext& context, ProfileBuilder& builder) {
  return Sampled(functions, edges, context, builder).run();
}

}  // namespace profd::pstats
