// CallGraph: a profile of functions and "who called whom" (cProfile, callgrind, gprof, stackprof without raw
// samples) as contexts. Such a file holds no stacks; docs/decisions/0042-call-graphs.md says what is made of
// it, and 0047-stated-costs.md what is not taken from there.
//
//   CallGraph graph(frames);              // one frame a function, without a line
//   edge = graph.add_edge(caller, callee, at);  // at: the caller's frame at the line of the call, if known
//   graph.mark_entry(function);           // it was also entered from outside of what was measured
//   graph.place(builder);
//   builder.add_self(graph.context(function), ...)   what ran in a function, whoever called it
//   builder.add_self(graph.edge_context(edge), ...)  what ran in the callee when the caller called it
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"

namespace profd {

inline constexpr std::string_view kSeveralCallers = "[several callers]";

class CallGraph {
 public:
  explicit CallGraph(std::vector<FrameId> frames);

  // Functions are numbered as their frames were given. Returns the number of the edge; calls from several
  // places are several edges.
  std::uint32_t add_edge(std::uint32_t caller, std::uint32_t callee, FrameId at = {});
  // Functions without callers are entries anyway.
  void mark_entry(std::uint32_t function);

  // Makes the contexts; nothing is added afterwards. Near linear in functions and edges.
  void place(ProfileBuilder& builder);

  ContextId context(std::uint32_t function) const { return contexts_[function]; }
  // What stands above context(function): where other lines of the same function belong.
  ContextId parent(std::uint32_t function) const { return parents_[function]; }
  // The caller, at the place of the call.
  ContextId edge_parent(std::uint32_t edge) const { return edge_parents_[edge]; }
  // Equal to the callee's context where that is called from nowhere else.
  ContextId edge_context(std::uint32_t edge) {
    return builder_->context(edge_parents_[edge], frames_[edges_[edge].callee]);
  }
  // Functions whose stack has a gap above them.
  std::uint64_t n_several_callers() const { return n_several_; }
  std::size_t n_functions() const { return frames_.size(); }
  std::size_t n_edges() const { return edges_.size(); }

 private:
  struct Edge {
    std::uint32_t caller, callee;
    FrameId at;
  };

  ProfileBuilder* builder_ = nullptr;  // set by place()
  std::vector<FrameId> frames_;
  std::vector<Edge> edges_;
  std::vector<std::uint8_t> entry_;
  std::vector<ContextId> contexts_, parents_, edge_parents_;
  std::uint64_t n_several_ = 0;
};

}  // namespace profd
