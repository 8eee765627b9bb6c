#include "formats/support/call_graph.h"

#include <utility>

#include "formats/support/dominators.h"

namespace profd {

CallGraph::CallGraph(std::vector<FrameId> frames) : frames_(std::move(frames)), entry_(frames_.size(), 0) {}

std::uint32_t CallGraph::add_edge(std::uint32_t caller, std::uint32_t callee, FrameId at) {
  edges_.push_back({caller, callee, at});
  return static_cast<std::uint32_t>(edges_.size() - 1);
}

void CallGraph::mark_entry(std::uint32_t function) {
  entry_[function] = 1;
}

void CallGraph::place(ProfileBuilder& builder) {
  builder_ = &builder;
  // Node 0 is what is outside; function i is node i + 1.
  const auto n = static_cast<std::uint32_t>(frames_.size() + 1);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;
  std::vector<std::uint8_t> called(n, 0);
  for (const Edge& edge : edges_) {
    if (edge.caller == edge.callee) continue;
    ways.emplace_back(edge.caller + 1, edge.callee + 1);
    called[edge.callee + 1] = 1;
  }
  for (std::uint32_t node = 1; node < n; ++node) {
    if (!called[node]) entry_[node - 1] = 1;
    if (entry_[node - 1]) ways.emplace_back(0, node);
  }
  Dominators dominators = find_dominators(n, ways);
  if (dominators.order.size() < n) {
    // Functions that only call each other: which of them was entered first is not in the file.
    std::vector<std::uint8_t> reached(n, 0);
    for (const std::uint32_t node : dominators.order) reached[node] = 1;
    for (std::uint32_t node = 1; node < n; ++node) {
      if (reached[node]) continue;
      entry_[node - 1] = 1;
      ways.emplace_back(0, node);
    }
    dominators = find_dominators(n, ways);
  }

  // Callers that a function dominates are its own recursion. With one other caller its stack is that
  // caller's; else it is known up to the function that all ways lead through.
  std::vector<std::uint8_t> several(n, 0);
  std::vector<std::uint32_t> only(n, kNone);
  const auto add_caller = [&](std::uint32_t caller, std::uint32_t node) {
    if (only[node] != kNone && only[node] != caller) several[node] = 1;
    only[node] = caller;
  };
  for (const auto& [from, to] : ways) {
    if (from == 0 || !dominators.dominates(to, from)) add_caller(from, to);
  }
  // Where the one caller calls from; none when that is several places or not known.
  std::vector<FrameId> place(n);
  std::vector<std::uint8_t> has_place(n, 0);
  for (const Edge& edge : edges_) {
    const std::uint32_t node = edge.callee + 1;
    if (several[node] || only[node] != edge.caller + 1) continue;
    if (has_place[node] && place[node] != edge.at) {
      place[node] = {};
    } else if (!has_place[node]) {
      place[node] = edge.at;
    }
    has_place[node] = 1;
  }
  FrameId gap;
  contexts_.assign(frames_.size(), kRootContext);
  parents_.assign(frames_.size(), kRootContext);
  for (const std::uint32_t node : dominators.order) {
    if (node == 0) continue;
    const std::uint32_t above = dominators.idom[node];
    ContextId parent = above == 0 ? kRootContext : contexts_[above - 1];
    if (place[node].valid()) parent = builder.context(parents_[above - 1], place[node]);
    if (several[node]) {
      if (!gap.valid())
        gap = builder.frame({.function = builder.function(
                                 FunctionSpec{.name = builder.string(kSeveralCallers), .unresolved = true})});
      parent = builder.context(parent, gap);
      ++n_several_;
    }
    parents_[node - 1] = parent;
    contexts_[node - 1] = builder.context(parent, frames_[node - 1]);
  }
  edge_parents_.reserve(edges_.size());
  for (const Edge& edge : edges_)
    edge_parents_.push_back(edge.at.valid() ? builder.context(parents_[edge.caller], edge.at)
                                            : contexts_[edge.caller]);
}

}  // namespace profd
