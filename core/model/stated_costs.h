// StatedCosts: what a source says of whole functions and calls where it has no stacks (cProfile, callgrind,
// gprof and their like). The selves of such a profile are exact; its context tree is an estimate, as the
// paths are not in the file. What stands here is as exact as the file, and views take it where it answers
// what is asked; docs/decisions/0047-stated-costs.md says where that is.
//
// A profile whose contexts are an estimate has this even where nothing is stated: then it is empty.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/metric.h"
#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

// Totals include all that was called, as the profiler counts it: recursion is counted as its own tool does.
struct StatedCosts {
  // Rows of one frame, those of threads, add up. Other rows of a function are parts of it (gprof by line),
  // which add up unless one may be above another on a stack.
  struct Functions {
    Column<std::uint32_t> frame;      // FrameId, one of the function's
    Column<std::uint8_t> known;       // 1: the total is stated; 0: the function is named without one
    std::vector<ValueColumn> totals;  // by MetricId; as long as frame, or empty: not stated for this metric
    std::size_t size() const { return frame.size(); }
  };
  // Rows of the same caller and callee add up.
  struct Calls {
    Column<std::uint32_t> caller;     // FrameId at the place of the call (line 0: unknown), or none: outside
    Column<std::uint32_t> callee;     // FrameId, one of the function's, or none: unknown
    Column<std::uint8_t> known;       // 1: the cost is stated; 0: it is only known that there were calls
    std::vector<ValueColumn> totals;  // like those of functions
    std::size_t size() const { return caller.size(); }
  };
  Functions functions;
  Calls calls;
};

inline bool is_stated(const std::vector<ValueColumn>& totals, MetricId metric) {
  return metric.v < totals.size() &&
         std::visit([](const auto& column) { return !column.empty(); }, totals[metric.v]);
}

}  // namespace profd
