#include "formats/support/cost_graph.h"

#include <algorithm>
#include <cassert>

#include "core/support/checked.h"

namespace profd {

CostGraph::CostGraph(ProfileBuilder& builder, std::vector<Event> events, bool inclusive)
    : builder_(builder),
      n_events_(events.size()),
      inclusive_(inclusive),
      row_((inclusive ? 2 : 1) * events.size() + 1) {
  for (const Event& event : events) builder_.add_metric(event.name, event.unit);
  builder_.add_metric("calls", "count");
  for (std::size_t e = 0; e < events.size() && inclusive; ++e)
    builder_.add_metric(events[e].name + " inclusive", events[e].unit);
  builder_.set_default_metric(MetricId{0u});
  // Costs are counted, not sampled.
  builder_.set_n_samples(0);
}

CostGraph::Sums& CostGraph::sums_of(Node node) {
  if (node.function.v >= row_of_function_.size()) row_of_function_.resize(node.function.v + 1, kNone);
  std::uint32_t& row = row_of_function_[node.function.v];
  if (row == kNone) {
    row = static_cast<std::uint32_t>(sums_.size());
    Sums& sums = sums_.emplace_back();
    sums.frame = node.frame;
    sums.own.resize(n_events_);
    sums.called.resize(n_events_);
  }
  return sums_[row];
}

void CostGraph::put(ContextId context, std::size_t first_metric, std::span<const std::int64_t> values,
                    std::int64_t calls) {
  if (as_samples_) {
    std::fill(row_.begin(), row_.end(), 0);
    std::copy(values.begin(), values.end(), row_.begin() + static_cast<std::ptrdiff_t>(first_metric));
    row_[n_events_] = calls;
    builder_.add_sample(context, row_, place_);
    return;
  }
  for (std::size_t e = 0; e < values.size(); ++e)
    if (values[e] != 0) builder_.add_self(context, MetricId{first_metric + e}, values[e]);
  if (calls != 0) builder_.add_self(context, MetricId{n_events_}, calls);
}

void CostGraph::add_self(Node node, std::span<const std::int64_t> costs) {
  assert(costs.size() == n_events_);
  put(alone(node.frame), 0, costs, 0);
  Sums& sums = sums_of(node);
  for (std::size_t e = 0; e < n_events_; ++e) add_saturating(sums.own[e], costs[e]);
}

void CostGraph::add_call(Node caller, Node callee, std::int64_t count,
                         std::span<const std::int64_t> inclusive) {
  assert(inclusive.size() == (inclusive_ ? n_events_ : 0));
  put(builder_.context(alone(caller.frame), callee.frame), n_events_ + 1, inclusive, count);
  if (!inclusive_) return;
  Sums& from = sums_of(caller);
  for (std::size_t e = 0; e < n_events_; ++e) add_saturating(from.own[e], inclusive[e]);
  Sums& to = sums_of(callee);
  for (std::size_t e = 0; e < n_events_; ++e) add_saturating(to.called[e], inclusive[e]);
}

void CostGraph::add_entries(Node node, std::int64_t count) {
  put(alone(node.frame), n_events_ + 1, {}, count);
}

void CostGraph::finish() {
  if (!inclusive_) return;
  place_ = {};
  for (const Sums& sums : sums_) {
    std::vector<std::int64_t> rest(n_events_);
    for (std::size_t e = 0; e < n_events_; ++e)
      if (sums.own[e] > sums.called[e]) rest[e] = sums.own[e] - std::max<std::int64_t>(sums.called[e], 0);
    if (std::any_of(rest.begin(), rest.end(), [](std::int64_t v) { return v != 0; }))
      put(alone(sums.frame), n_events_ + 1, rest, 0);
  }
}

}  // namespace profd
