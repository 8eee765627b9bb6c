#include "formats/callgrind/xdebug_calls.h"

namespace profd::callgrind {

void XdebugCalls::begin(FunctionId function) {
  blocks_.push_back({function, entries_.size()});
}

void XdebugCalls::begin_part(const SampleContext& place) {
  if (!parts_.empty() && parts_.back().first_block == blocks_.size()) parts_.pop_back();
  parts_.push_back({blocks_.size(), place, place.labels.v != 0 || place.thread.valid()});
}

void XdebugCalls::add_self(FrameId frame, std::span<const std::int64_t> costs) {
  if (blocks_.empty()) return;
  entries_.push_back({frame, {}, 0});
  costs_.insert(costs_.end(), costs.begin(), costs.end());
}

void XdebugCalls::add_call(FrameId caller, CostGraph::Node callee, std::int64_t count,
                           std::span<const std::int64_t> inclusive) {
  if (blocks_.empty()) return;
  entries_.push_back({caller, callee, count});
  costs_.insert(costs_.end(), inclusive.begin(), inclusive.end());
}

// The blocks that no caller claimed yet stand on a stack; a block with n calls claims the last n.
bool XdebugCalls::link_callers(std::size_t first, std::size_t end) {
  std::vector<std::uint32_t> open;
  for (std::size_t b = first; b < end; ++b) {
    std::size_t at = open.size();
    for (std::size_t e = end_of(b); e-- > blocks_[b].first_entry;) {
      if (!entries_[e].callee.function.valid()) continue;
      if (entries_[e].count != 1 || at == 0) return false;
      const std::uint32_t callee = open[--at];
      if (blocks_[callee].function != entries_[e].callee.function) return false;
      caller_[callee] = static_cast<std::uint32_t>(e);
    }
    open.resize(at);
    open.push_back(static_cast<std::uint32_t>(b));
  }
  return true;
}

// Callers come after their callees: backwards, every caller has its context before its callees need it.
void XdebugCalls::add_tree(std::size_t first, std::size_t end, const Part& part,
                           ProfileBuilder& builder) const {
  std::vector<ContextId> below(entries_.size() - blocks_[first].first_entry);  // of calls: the caller's frame
  const std::size_t base = blocks_[first].first_entry;
  std::vector<std::int64_t> row(n_events_ + 1);
  for (std::size_t b = end; b-- > first;) {
    const ContextId at = caller_[b] == kNone ? kRootContext : below[caller_[b] - base];
    bool counted = false;
    for (std::size_t e = blocks_[b].first_entry; e < end_of(b); ++e) {
      const ContextId here = builder.context(at, entries_[e].frame);
      if (entries_[e].callee.function.valid()) {
        below[e - base] = here;
        continue;
      }
      std::copy_n(costs(e).begin(), n_events_, row.begin());
      row[n_events_] = counted ? 0 : 1;
      counted = true;
      if (part.placed) {
        builder.add_sample(here, row, part.place);
      } else {
        for (std::size_t m = 0; m < row.size(); ++m) builder.add_self(here, MetricId{m}, row[m]);
      }
    }
  }
}

void XdebugCalls::add_graph(CostGraph& graph) const {
  std::size_t part = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (; part < parts_.size() && parts_[part].first_block <= b; ++part)
      if (parts_[part].placed) graph.set_place(parts_[part].place);
    for (std::size_t e = blocks_[b].first_entry; e < end_of(b); ++e) {
      const Entry& entry = entries_[e];
      const CostGraph::Node node{blocks_[b].function, {}, entry.frame};
      if (entry.callee.function.valid())
        graph.add_call(node, entry.callee, entry.count, costs(e));
      else
        graph.add_self(node, costs(e));
    }
  }
}

Result<void> XdebugCalls::finish(std::vector<CostGraph::Event> events, ReadContext& context,
                                 ProfileBuilder& builder) {
  if (parts_.empty() || parts_.front().first_block != 0) parts_.insert(parts_.begin(), Part{});
  if (entries_.size() >= kNone || blocks_.size() >= kNone)
    return fail(ErrorCode::limit, "the file has more than 4,294,967,294 lines");
  caller_.assign(blocks_.size(), kNone);
  bool fits = true;
  const auto end_of_part = [&](std::size_t p) {
    return p + 1 < parts_.size() ? parts_[p + 1].first_block : blocks_.size();
  };
  for (std::size_t p = 0; p < parts_.size() && fits; ++p)
    fits = link_callers(parts_[p].first_block, end_of_part(p));
  if (!fits) {
    context.report.add("calls-out-of-order", Severity::loss,
                       "the calls do not fit together, so that their stacks are not known: the file was read "
                       "as a call graph");
    CostGraph graph(builder, std::move(events), {.totals_by_calls = true});
    add_graph(graph);
    return graph.finish(context.report);
  }
  for (const CostGraph::Event& event : events) builder.add_metric(event.name, event.unit);
  builder.add_metric("calls", "count");
  builder.set_default_metric(MetricId{0u});
  builder.set_n_samples(0);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (parts_[p].first_block < end_of_part(p))
      add_tree(parts_[p].first_block, end_of_part(p), parts_[p], builder);
  return {};
}

}  // namespace profd::callgrind
