// Xdebug writes one block for each call that returned, callees before their callers: what looks like a call
// graph is a trace, and the stacks can be told exactly. XdebugCalls keeps the blocks until the end of the
// file and then either adds the tree of calls, or, when the blocks do not fit together, a call graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/reader.h"
#include "formats/support/cost_graph.h"

namespace profd::callgrind {

class XdebugCalls {
 public:
  explicit XdebugCalls(std::size_t n_events) : n_events_(n_events) {}

  // A block of the function begins.
  void begin(FunctionId function);
  void add_self(FrameId frame, std::span<const std::int64_t> costs);
  void add_call(FrameId caller, CostGraph::Node callee, std::int64_t count,
                std::span<const std::int64_t> inclusive);
  // What follows is another run, measured at `place`.
  void begin_part(const SampleContext& place);

  // Declares the metrics and adds everything.
  Result<void> finish(std::vector<CostGraph::Event> events, ReadContext& context, ProfileBuilder& builder);

 private:
  struct Entry {  // a cost line or a call
    FrameId frame;
    CostGraph::Node callee;  // function invalid: a cost line
    std::int64_t count = 0;
  };
  struct Block {
    FunctionId function;
    std::size_t first_entry = 0;
  };
  struct Part {
    std::size_t first_block = 0;
    SampleContext place;
    bool placed = false;
  };

  std::size_t end_of(std::size_t block) const {
    return block + 1 < blocks_.size() ? blocks_[block + 1].first_entry : entries_.size();
  }
  std::span<const std::int64_t> costs(std::size_t entry) const {
    return std::span(costs_).subspan(entry * n_events_, n_events_);
  }
  bool link_callers(std::size_t first, std::size_t end);
  void add_tree(std::size_t first, std::size_t end, const Part& part, ProfileBuilder& builder) const;
  void add_graph(CostGraph& graph) const;

  std::size_t n_events_;
  std::vector<Block> blocks_;
  std::vector<Entry> entries_;
  std::vector<std::int64_t> costs_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> caller_;  // by block: the entry that called it, kNone for none
};

}  // namespace profd::callgrind
