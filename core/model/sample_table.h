// SampleTable: the measurements themselves, kept only where the source has more than totals by context
// (threads, times or labels). Rows are in the order of the file when times are known, else by context.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/metric.h"
#include "core/model/timeline.h"

namespace profd {

struct SampleTable {
  Column<std::uint32_t> context;
  std::vector<ValueColumn> values;  // by MetricId
  Column<std::uint32_t> label_set;  // empty when no sample has labels
  Column<std::uint32_t> thread;     // empty when no sample has a thread; kNone = unknown
  // Nanoseconds since Profile::info().time_ns or since start; empty when no sample has one, else kNoTime
  // where unknown.
  Column<std::int64_t> time;
  std::size_t size() const { return context.size(); }
};

// Records that tie several contexts together: allocation / use / reuse, kill / redundant, the two sides of a
// race.
struct AssociationTable {
  std::string name;                             // "reuse", "race"
  std::vector<std::string> roles;               // "allocation", "use", "reuse"
  std::vector<Column<std::uint32_t>> contexts;  // by role; kNone where a record lacks the role
  std::vector<MetricInfo> metrics;
  std::vector<ValueColumn> values;  // by metric
  // By role: ThreadId of who was at the context, kNone = unknown. Empty when the source tells of none.
  std::vector<Column<std::uint32_t>> threads = {};
  std::size_t size() const { return contexts.empty() ? 0 : contexts.front().size(); }
};

}  // namespace profd
