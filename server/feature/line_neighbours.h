// Who is on the stacks next to a line: who calls the code of the line, and what the line calls.
#pragma once

#include <cstddef>
#include <vector>

#include "server/engine/views.h"

namespace profd {

struct LineNeighbours {
  Value total;                               // of the line: shares are of it
  std::vector<Neighbour> callers, callees;   // keys of functions, heaviest first
  std::size_t n_callers = 0, n_callees = 0;  // in all
  std::size_t n_joined = 0;                  // pieces of code that share the line; their calls are summed
  bool estimated = false;
};

// `frames`: those on the line that are shown. `functions`: the selection of `spec`, at function granularity;
// `line_total`: of the line, each stack once. Costs look-ups where the table of neighbours by line is at
// hand.
Result<LineNeighbours> line_neighbours(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                       const Selection& functions, const std::vector<std::size_t>& frames,
                                       const Value& line_total, std::size_t n, const StopToken& stop);

}  // namespace profd
