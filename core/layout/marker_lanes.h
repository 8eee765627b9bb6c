// Markers over time: those of one thread in lanes, as they overlap, and those too narrow to be drawn joined
// with their neighbours. What is drawn, joined and without a lane is all that is in the window.
#pragma once

#include <cstdint>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/markers.h"

namespace profd {

inline constexpr std::uint32_t kMaxMarkerLanes = 8;

struct MarkerLanesRequest {
  std::int64_t from = 0, to = 1;
  std::int64_t min_width = 1;      // nanoseconds: what is shorter may be joined
  std::uint32_t max_boxes = 1000;  // the width grows until they are no more
  std::int64_t last = 1;           // where what has no end ends
};

// Columns, all equally long, by lane, then begin.
struct MarkerLanes {
  std::vector<std::uint32_t> lane;
  std::vector<std::int64_t> begin, end;
  std::vector<std::uint64_t> count;
  std::vector<std::uint32_t> id;  // of several the first
  std::vector<StringId> name;     // none: of several that are called differently
  std::uint32_t n_lanes = 0;
  std::uint64_t n_markers = 0, n_no_lane = 0;  // in the window; those of them that found no lane
  [[nodiscard]] std::size_t size() const { return lane.size(); }
};

// `ids`: markers of one thread, ascending by begin.
Result<MarkerLanes> marker_lanes(const Markers& markers, const std::vector<std::uint32_t>& ids,
                                 const MarkerLanesRequest& request, StopToken& stop);

}  // namespace profd
