#include "formats/support/cost_graph.h"

#include <algorithm>
#include <cassert>

#include "core/support/checked.h"
#include "formats/support/call_graph.h"

namespace profd {
namespace {

template <class T>
Column<T> column(std::vector<T> values) {
  return Column<T>(std::move(values));
}

}  // namespace

CostGraph::CostGraph(ProfileBuilder& builder, std::vector<Event> events, const Options& options)
    : builder_(builder),
      events_(std::move(events)),
      options_(options),
      n_events_(events_.size()),
      n_inclusive_(options.inclusive ? events_.size() : 0),
      places_(1),
      sample_(events_.size() + 1) {
  for (const Event& event : events_) builder_.add_metric(event.name, event.unit);
  builder_.add_metric("calls", "count");
  builder_.set_default_metric(MetricId{0u});
  // Costs are counted, not sampled.
  builder_.set_n_samples(0);
}

void CostGraph::set_place(const SampleContext& place) {
  places_.push_back(place);
  place_ = static_cast<std::uint32_t>(places_.size() - 1);
}

std::uint32_t CostGraph::row_of(const Node& node) {
  if (node.function.v >= function_row_.size()) function_row_.resize(node.function.v + 1, kNone);
  std::uint32_t& row = function_row_[node.function.v];
  if (row == kNone) {
    row = static_cast<std::uint32_t>(functions_.size());
    Function& function = functions_.emplace_back();
    function.id = node.function;
    function.module = node.module;
    function.own.resize(n_inclusive_);
    function.called.resize(n_inclusive_);
  }
  return row;
}

void CostGraph::add_self(const Node& node, std::span<const std::int64_t> costs) {
  assert(costs.size() == n_events_);
  const std::uint32_t function = row_of(node);
  const std::uint64_t key = std::uint64_t{place_} << 32 | node.frame.v;
  const auto [found, is_new] = self_row_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    rows_.push_back({function, place_, node.frame});
    costs_.resize(costs_.size() + n_events_);
  }
  std::int64_t* const row = costs_.data() + std::size_t{found->second} * n_events_;
  for (std::size_t e = 0; e < n_events_; ++e) add_saturating(row[e], costs[e]);
  for (std::size_t e = 0; e < n_inclusive_; ++e) add_saturating(functions_[function].own[e], costs[e]);
}

void CostGraph::add_call(const Node& caller, const Node& callee, std::int64_t count,
                         std::span<const std::int64_t> inclusive) {
  assert(inclusive.size() == n_inclusive_);
  const std::uint32_t from = row_of(caller), to = row_of(callee);
  if (!functions_[to].frame.valid()) functions_[to].frame = callee.frame;
  calls_.push_back({from, to, place_, caller.frame, count});
  inclusive_.insert(inclusive_.end(), inclusive.begin(), inclusive.end());
  for (std::size_t e = 0; e < n_inclusive_; ++e) {
    add_saturating(functions_[from].own[e], inclusive[e]);
    add_saturating(functions_[to].called[e], inclusive[e]);
  }
}

void CostGraph::add_entries(const Node& node, std::int64_t count) {
  const std::uint32_t function = row_of(node);
  functions_[function].entered = true;
  calls_.push_back({kNone, function, place_, {}, count});
  inclusive_.resize(inclusive_.size() + n_inclusive_);
}

ContextId CostGraph::context_of(FunctionId function, FrameId frame) {
  return builder_.context(above_[function_row_[function.v]], frame);
}

void CostGraph::put(ContextId context, std::uint32_t place, std::span<const std::int64_t> costs,
                    std::int64_t calls) {
  if (places_.size() == 1) {
    for (std::size_t e = 0; e < costs.size(); ++e)
      if (costs[e] != 0) builder_.add_self(context, MetricId{e}, costs[e]);
    if (calls != 0) builder_.add_self(context, MetricId{n_events_}, calls);
    return;
  }
  std::fill(sample_.begin(), sample_.end(), 0);
  std::copy(costs.begin(), costs.end(), sample_.begin());
  sample_[n_events_] = calls;
  builder_.add_sample(context, sample_, places_[place]);
}

Result<void> CostGraph::finish(ImportReport& report) {
  if (calls_.size() >= kNone || rows_.size() >= kNone)
    return fail(ErrorCode::limit, "the file has more than 4,294,967,294 calls or places");
  std::vector<FrameId> frames;
  for (const Function& function : functions_)
    frames.push_back(function.frame.valid()
                         ? function.frame
                         : builder_.frame({.function = function.id, .module = function.module}));
  CallGraph graph(std::move(frames));
  std::unordered_map<std::uint64_t, std::uint32_t> edge_of;
  std::vector<std::uint32_t> edges;  // by call
  edges.reserve(calls_.size());
  for (const Call& call : calls_) {
    if (call.caller == kNone) {
      edges.push_back(kNone);
      continue;
    }
    const auto [found, is_new] = edge_of.try_emplace(std::uint64_t{call.caller} << 32 | call.callee);
    if (is_new) found->second = graph.add_edge(call.caller, call.callee);
    edges.push_back(found->second);
  }
  for (std::uint32_t f = 0; f < functions_.size(); ++f) {
    bool entered = functions_[f].entered;
    for (std::size_t e = 0; e < n_inclusive_ && options_.entries_by_cost; ++e)
      entered |= functions_[f].own[e] > functions_[f].called[e];
    if (entered) graph.mark_entry(f);
  }
  graph.place(builder_);
  for (std::uint32_t f = 0; f < functions_.size(); ++f) above_.push_back(graph.parent(f));

  for (std::size_t r = 0; r < rows_.size(); ++r)
    put(builder_.context(graph.parent(rows_[r].function), rows_[r].frame), rows_[r].place,
        std::span(costs_).subspan(r * n_events_, n_events_), 0);
  std::vector<std::uint32_t> callers, callees;
  std::vector<std::int64_t> counts;
  std::vector<std::vector<std::int64_t>> inclusive(n_inclusive_);
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const Call& call = calls_[c];
    const ContextId callee = edges[c] == kNone ? graph.context(call.callee) : graph.edge_context(edges[c]);
    if (call.count != 0) put(callee, call.place, {}, call.count);
    callers.push_back(call.caller == kNone ? kNone
                                           : builder_.context(graph.parent(call.caller), call.frame).v);
    callees.push_back(callee.v);
    counts.push_back(call.count);
    for (std::size_t e = 0; e < n_inclusive_; ++e) inclusive[e].push_back(inclusive_[c * n_inclusive_ + e]);
  }
  if (!callees.empty()) {
    AssociationTable table;
    table.name = "calls";
    table.roles = {"caller", "callee"};
    table.contexts = {column(std::move(callers)), column(std::move(callees))};
    table.metrics.push_back({"calls", "count"});
    table.values.emplace_back(column(std::move(counts)));
    for (std::size_t e = 0; e < n_inclusive_; ++e) {
      table.metrics.push_back({events_[e].name + " inclusive", events_[e].unit});
      table.values.emplace_back(column(std::move(inclusive[e])));
    }
    builder_.add_association(std::move(table));
  }
  if (!calls_.empty() && n_inclusive_ > 0) {
    AssociationTable table;
    table.name = "functions";
    table.roles = {"function"};
    std::vector<std::uint32_t> contexts;
    for (std::uint32_t f = 0; f < functions_.size(); ++f) contexts.push_back(graph.context(f).v);
    table.contexts = {column(std::move(contexts))};
    for (std::size_t e = 0; e < n_inclusive_; ++e) {
      std::vector<std::int64_t> values;
      for (const Function& function : functions_)
        values.push_back(std::max(function.own[e], function.called[e]));
      table.metrics.push_back({events_[e].name + " inclusive", events_[e].unit});
      table.values.emplace_back(column(std::move(values)));
    }
    builder_.add_association(std::move(table));
  }
  if (!calls_.empty())
    report.add(
        "call-graph", Severity::info,
        "the format knows calls, not stacks: functions with several callers stand under [several callers]",
        std::nullopt, std::max<std::uint64_t>(graph.n_several_callers(), 1));
  return {};
}

}  // namespace profd
