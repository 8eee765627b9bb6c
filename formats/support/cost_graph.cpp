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
      sample_(events_.size() + (options.counted ? 1 : 0)) {
  for (const Event& event : events_) builder_.add_metric(event.name, event.unit);
  if (options_.counted) builder_.add_metric("calls", "count");
  builder_.set_default_metric(MetricId{0u});
  // Costs are counted, not sampled.
  builder_.set_n_samples(0);
}

void CostGraph::set_place(const SampleContext& place) {
  places_.push_back(place);
  place_ = static_cast<std::uint32_t>(places_.size() - 1);
}

std::uint32_t CostGraph::row_of(const Node& node) {
  const std::uint64_t key = std::uint64_t{node.function.v} << 32 | node.module.v;
  if (key == last_key_) return last_row_;
  const auto [found, is_new] = function_row_.try_emplace(key, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) {
    Function& function = functions_.emplace_back();
    function.id = node.function;
    function.module = node.module;
    function.own.resize(n_events_);
    function.called.resize(n_events_);
  }
  last_key_ = key;
  last_row_ = found->second;
  return last_row_;
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
  for (std::size_t e = 0; e < n_events_; ++e) add_saturating(functions_[function].own[e], costs[e]);
}

void CostGraph::add_total(const Node& node, std::span<const std::int64_t> inclusive) {
  functions_[row_of(node)].has_total = true;
  total_of_.push_back(node.frame);
  totals_.insert(totals_.end(), inclusive.begin(), inclusive.end());
}

void CostGraph::add_call(const Node& caller, const Node& callee, std::int64_t count,
                         std::span<const std::int64_t> inclusive) {
  assert(inclusive.empty() || inclusive.size() == n_inclusive_);
  const std::uint32_t from = row_of(caller), to = row_of(callee);
  if (!functions_[to].frame.valid()) functions_[to].frame = callee.frame;
  functions_[from].calls |= from != to;
  calls_.push_back({from, to, place_, caller.frame, count, !inclusive.empty()});
  inclusive_.resize(inclusive_.size() + n_inclusive_);
  std::copy(inclusive.begin(), inclusive.end(),
            inclusive_.end() - static_cast<std::ptrdiff_t>(inclusive.size()));
  for (std::size_t e = 0; e < inclusive.size(); ++e) {
    add_saturating(functions_[from].own[e], inclusive[e]);
    add_saturating(functions_[to].called[e], inclusive[e]);
  }
}

void CostGraph::add_entries(const Node& node, std::int64_t count) {
  const std::uint32_t function = row_of(node);
  functions_[function].entered = true;
  calls_.push_back({kNone, function, place_, {}, count, false});
  inclusive_.resize(inclusive_.size() + n_inclusive_);
}

ContextId CostGraph::context_of(const Node& node) {
  return builder_.context(above_[row_of(node)], node.frame);
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
  if (options_.counted) sample_[n_events_] = calls;
  builder_.add_sample(context, sample_, places_[place]);
}

// `frames`: of functions, without a line.
void CostGraph::state(const std::vector<FrameId>& frames) {
  std::vector<MetricId> metrics;
  for (std::size_t e = 0; e < n_events_; ++e) metrics.emplace_back(e);
  builder_.state_costs(std::move(metrics));
  for (std::size_t i = 0; i < total_of_.size(); ++i) {
    const auto values = std::span(totals_).subspan(i * n_events_, n_events_);
    builder_.state_function(total_of_[i], std::vector<Value>(values.begin(), values.end()));
  }
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const Function& function = functions_[f];
    if (function.has_total) continue;
    std::vector<Value> values;
    for (std::size_t e = 0; e < n_events_ && (options_.totals_by_calls || !function.calls); ++e)
      values.emplace_back(options_.totals_by_calls ? std::max(function.own[e], function.called[e])
                                                   : function.own[e]);
    builder_.state_function(frames[f], values);
  }
  std::vector<Value> values;
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const Call& call = calls_[c];
    if (call.caller == kNone) continue;
    const auto costs = std::span(inclusive_).subspan(c * n_inclusive_, call.known ? n_inclusive_ : 0);
    values.assign(costs.begin(), costs.end());
    builder_.state_call(call.frame, frames[call.callee], values);
  }
}

Result<void> CostGraph::finish(ImportReport& report) {
  if (calls_.size() >= kNone || rows_.size() >= kNone)
    return fail(ErrorCode::limit, "the file has more than 4,294,967,294 calls or places");
  std::vector<FrameId> frames;
  for (const Function& function : functions_)
    frames.push_back(builder_.frame({.function = function.id, .module = function.module}));
  CallGraph graph(frames);
  std::unordered_map<std::uint64_t, std::uint32_t> edge_of;  // by the caller's frame and the callee
  std::vector<std::uint32_t> edges;                          // by call
  edges.reserve(calls_.size());
  for (const Call& call : calls_) {
    if (call.caller == kNone) {
      edges.push_back(kNone);
      continue;
    }
    const auto [found, is_new] = edge_of.try_emplace(std::uint64_t{call.frame.v} << 32 | call.callee);
    if (is_new) found->second = graph.add_edge(call.caller, call.callee, call.frame);
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
    // Counted where the function begins, as far as a call says where that is.
    const FrameId begin =
        functions_[call.callee].frame.valid() ? functions_[call.callee].frame : frames[call.callee];
    const ContextId callee =
        builder_.context(edges[c] == kNone ? graph.parent(call.callee) : graph.edge_parent(edges[c]), begin);
    if (call.count != 0) put(callee, call.place, {}, call.count);
    callers.push_back(call.caller == kNone ? kNone
                                           : builder_.context(graph.parent(call.caller), call.frame).v);
    callees.push_back(callee.v);
    counts.push_back(call.count);
    for (std::size_t e = 0; e < n_inclusive_; ++e) inclusive[e].push_back(inclusive_[c * n_inclusive_ + e]);
  }
  if (options_.counted && !callees.empty()) {
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
  const bool any_calls =
      std::any_of(calls_.begin(), calls_.end(), [](const Call& call) { return call.caller != kNone; });
  if (any_calls) state(frames);
  if (!calls_.empty())
    report.add(
        "call-graph", Severity::info,
        "the format knows calls, not stacks: functions with several callers stand under [several callers]",
        std::nullopt, std::max<std::uint64_t>(graph.n_several_callers(), 1));
  return {};
}

}  // namespace profd
