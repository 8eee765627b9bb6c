#include "core/layout/marker_lanes.h"

#include <algorithm>
#include <array>
#include <limits>

namespace profd {
namespace {

// One lane while it is filled: what is drawn, and the joined box that may still grow.
struct FilledLane {
  std::vector<std::int64_t> begin, end;
  std::vector<std::uint64_t> count;
  std::vector<std::uint32_t> id;
  std::vector<StringId> name;
  std::int64_t free_from = std::numeric_limits<std::int64_t>::min();
  bool grows = false;

  void put(std::uint32_t marker, StringId called, std::int64_t from, std::int64_t to, std::int64_t width) {
    const bool narrow = to - from < width;
    // A joined box grows as long as what it holds lies closer together than what can be told apart.
    if (grows && narrow && from - end.back() < width) {
      ++count.back();
      end.back() = std::max(end.back(), to);
      if (name.back() != called) name.back() = StringId{};
      return;
    }
    begin.push_back(from);
    end.push_back(to);
    count.push_back(1);
    id.push_back(marker);
    name.push_back(called);
    grows = narrow;
  }
};

}  // namespace

Result<MarkerLanes> marker_lanes(const Markers& markers, const std::vector<std::uint32_t>& ids,
                                 const MarkerLanesRequest& request, StopToken& stop) {
  for (std::int64_t width = std::max<std::int64_t>(1, request.min_width);;) {
    std::array<FilledLane, kMaxMarkerLanes> lanes;
    MarkerLanes out;
    for (const std::uint32_t id : ids) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::int64_t begin = markers.begin(id), end = begin + markers.length(id, request.last);
      const bool in_window = begin < request.to && (end > request.from || begin >= request.from);
      // The same lane whatever is looked at: the first that is free as it begins.
      auto* const lane = std::find_if(lanes.begin(), lanes.end(),
                                      [&](const FilledLane& one) { return one.free_from <= begin; });
      if (in_window) ++out.n_markers;
      if (lane == lanes.end()) {
        if (in_window) ++out.n_no_lane;
        continue;
      }
      lane->free_from = std::max(end, begin + 1);
      if (in_window) lane->put(id, markers.name(id), begin, end, width);
    }
    std::size_t n = 0;
    for (const FilledLane& lane : lanes) n += lane.begin.size();
    const std::int64_t whole = request.to - request.from;
    if (n > request.max_boxes && width < whole) {
      width = width > whole / 2 ? whole : width * 2;
      continue;
    }
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
      const FilledLane& lane = lanes[i];
      if (!lane.begin.empty()) out.n_lanes = i + 1;
      out.lane.insert(out.lane.end(), lane.begin.size(), i);
      out.begin.insert(out.begin.end(), lane.begin.begin(), lane.begin.end());
      out.end.insert(out.end.end(), lane.end.begin(), lane.end.end());
      out.count.insert(out.count.end(), lane.count.begin(), lane.count.end());
      out.id.insert(out.id.end(), lane.id.begin(), lane.id.end());
      out.name.insert(out.name.end(), lane.name.begin(), lane.name.end());
    }
    return out;
  }
}

}  // namespace profd
