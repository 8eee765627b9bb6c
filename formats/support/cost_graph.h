// CostGraph: what callgrind and gprof count, as a profile. Self costs by line, and calls between functions
// with what they cost, all below included. Built on CallGraph, which says where a function stands
// (docs/decisions/0042-call-graphs.md); kept until finish(), as that needs all calls.
//
//   metric of each event   self cost, at the function's line below what certainly stands above it
//   metric "calls"         at the callee under the caller, at the line of the call; where calls are counted
//   association "calls"    caller (its line), callee; calls, and "<event> inclusive" of these calls; likewise
//   stated functions       the total the file gives, or (totals_by_calls) what it and the calls it makes
//   cost,
//                          or the calls to it when that is more; self cost where it calls nothing
//   stated calls           caller (its line), callee; what these calls cost
//
// Values are clamped to 64 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/result.h"
#include "formats/import_report.h"

namespace profd {

class CostGraph {
 public:
  struct Event {
    std::string name, unit;
  };
  struct Options {
    bool inclusive = true;         // calls have costs, not counts alone
    bool counted = true;           // calls have counts, not costs alone
    bool entries_by_cost = false;  // what costs more than the calls to it was entered from outside, too
    bool totals_by_calls = false;  // calls cost what they say to the last unit, so that they make totals
  };

  // Declares the metrics; the first event is the default.
  CostGraph(ProfileBuilder& builder, std::vector<Event> events, const Options& options);

  // Where what is added from now on was measured. Once it is used at all, every value becomes a sample.
  void set_place(const SampleContext& place);

  // A place in a function.
  struct Node {
    FunctionId function;
    ModuleId module;
    FrameId frame;
  };

  // One value per event.
  void add_self(const Node& node, std::span<const std::int64_t> costs);
  // `inclusive`: one value per event, or none where the file does not say it.
  void add_call(const Node& caller, const Node& callee, std::int64_t count,
                std::span<const std::int64_t> inclusive);
  // Nothing is measured of it, but it is named.
  void add_function(const Node& node) { row_of(node); }
  // The file says what a function or a part of it costs, all that it calls included. One value per event.
  void add_total(const Node& node, std::span<const std::int64_t> inclusive);
  // Calls of a function by nobody knows whom.
  void add_entries(const Node& node, std::int64_t count);

  // Where a frame of a function stands; after finish() only, for functions that were added.
  ContextId context_of(const Node& node);

  // Makes the profile; nothing can be added any more.
  Result<void> finish(ImportReport& report);

 private:
  struct Function {
    FunctionId id;
    ModuleId module;
    FrameId frame;  // where it begins, when a call says so
    bool entered = false, has_total = false, calls = false;
    std::vector<std::int64_t> own, called;  // self and outgoing calls; incoming calls
  };
  struct Row {  // of self costs
    std::uint32_t function, place;
    FrameId frame;
  };
  struct Call {
    std::uint32_t caller, callee, place;
    FrameId frame;  // of the caller
    std::int64_t count;
    bool known;  // its cost
  };
  void state(const std::vector<FrameId>& frames);
  std::uint32_t row_of(const Node& node);
  void put(ContextId context, std::uint32_t place, std::span<const std::int64_t> costs, std::int64_t calls);

  ProfileBuilder& builder_;
  std::vector<Event> events_;
  Options options_;
  std::size_t n_events_, n_inclusive_;
  std::vector<SampleContext> places_;  // 0: none
  std::uint32_t place_ = 0;
  // By function and module: without files, functions of one name in two libraries are two.
  std::unordered_map<std::uint64_t, std::uint32_t> function_row_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_row_ = kNone;
  std::vector<Function> functions_;
  std::unordered_map<std::uint64_t, std::uint32_t> self_row_;  // by frame and place
  std::vector<Row> rows_;
  std::vector<std::int64_t> costs_;  // n_events_ a row
  std::vector<Call> calls_;
  std::vector<std::int64_t> inclusive_;  // n_inclusive_ a call
  std::vector<FrameId> total_of_;
  std::vector<std::int64_t> totals_;  // n_events_ each
  std::vector<std::int64_t> sample_;
  std::vector<ContextId> above_;  // by row of functions_
};

}  // namespace profd
