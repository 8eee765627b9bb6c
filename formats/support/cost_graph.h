// CostGraph: formats that know functions and calls between them, and no stacks (callgrind, gprof).
//
// What such a file says exactly is kept exactly, and nothing else is made up
// (docs/decisions/0041-call-graphs-have-no-stacks.md):
//
//   metric "Ir"            self cost: at the function alone, so that total = self
//   metric "calls"         how often one function called another
//   metric "Ir inclusive"  cost of those calls, all below included: at the two frames caller;callee. What a
//                          function costs beyond all calls to it was entered from nowhere known and stands at
//                          the function alone. So the self value of a function is its inclusive cost.
//
// Values are counted in 64 bits and clamped there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/profile_builder.h"

namespace profd {

class CostGraph {
 public:
  struct Event {
    std::string name, unit;
  };

  // Declares the metrics; the first event is the default. Without `inclusive` calls have counts alone.
  CostGraph(ProfileBuilder& builder, std::vector<Event> events, bool inclusive = true);

  // Where what is added from now on was measured. Once it is used at all, every value becomes a sample.
  void set_place(const SampleContext& place) {
    place_ = place;
    as_samples_ = true;
  }

  // A place in a function.
  struct Node {
    FunctionId function;
    FrameId frame;
  };

  // One value per event.
  void add_self(Node node, std::span<const std::int64_t> costs);
  void add_call(Node caller, Node callee, std::int64_t count, std::span<const std::int64_t> inclusive);

  // Calls of a function by nobody knows whom.
  void add_entries(Node node, std::int64_t count);

  // Adds what was entered from nowhere known; nothing can be added any more.
  void finish();

  std::size_t n_events() const { return n_events_; }

 private:
  ContextId alone(FrameId frame) { return builder_.context(kRootContext, frame); }

  struct Sums {
    FrameId frame;                          // the first one seen
    std::vector<std::int64_t> own, called;  // self and outgoing calls; incoming calls
  };
  Sums& sums_of(Node node);
  void put(ContextId context, std::size_t first_metric, std::span<const std::int64_t> values,
           std::int64_t calls);

  ProfileBuilder& builder_;
  std::size_t n_events_;
  bool inclusive_;
  SampleContext place_;
  bool as_samples_ = false;
  std::vector<std::uint32_t> row_of_function_;  // by FunctionId: row of sums_, or kNone
  std::vector<Sums> sums_;
  std::vector<std::int64_t> row_;
};

}  // namespace profd
