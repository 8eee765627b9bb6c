// Samples and times of a .cpuprofile, and which context each sample belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/cpuprofile/nodes.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::cpuprofile {

// Contexts of nodes, made when a value needs them. A node whose lines are known has a context per line.
class NodeContexts {
 public:
  NodeContexts(const NodeTable& nodes, ProfileBuilder& builder);
  // Context of the node's next sample. The file does not say which sample hit which line; the node's samples
  // are dealt to its lines so that after n_ticks samples every line has exactly its ticks.
  ContextId next_sample(std::uint32_t node);
  ContextId of_line(std::uint32_t node, std::uint32_t line);
  ContextId of_node(std::uint32_t node);

 private:
  const NodeTable& nodes_;
  ProfileBuilder& builder_;
  std::vector<ContextId> context_;       // kNone until made
  std::vector<ContextId> line_context_;  // by tick
  std::vector<std::uint32_t> n_taken_;   // samples so far
};

// Offsets of values in the file; nullopt when the file lacks them.
struct TimePlaces {
  std::optional<std::uint64_t> samples, deltas, timestamps;
  std::optional<std::int64_t> start_ns, end_ns;
  bool may_be_late = false;  // samples may stand after later ones
};

// Adds a row for every sample, with its time when the file has times. Metrics: samples, then time when
// `timed`.
// With ReadContext::gc_on_stack the collector's samples stand on the stack before them.
Result<void> read_samples(const JsonCursor& at, const TimePlaces& places, bool timed, const Nodes& nodes,
                          ReadContext& context, ProfileBuilder& builder);

// Of files without samples: hit counts alone.
void add_hits(const NodeTable& nodes, MetricId metric, ReadContext& context, ProfileBuilder& builder);

// A number of microseconds in nanoseconds, rounded when it has a finer fraction. Fails the cursor when it
// does not fit.
std::int64_t microseconds(JsonCursor& in, std::uint64_t& n_rounded);

}  // namespace profd::cpuprofile
