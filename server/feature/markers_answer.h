// Markers as clients get them: a table of those that pass a view and a search, or of their names, and lanes
// of them over time, with texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/marker_table.h"
#include "server/feature/view_answer.h"

namespace profd {

struct MarkersRequest {
  OpenProfilePtr open;
  ViewSpec spec;  // its filters by thread, time and marker apply
  std::string search;
  std::int64_t min_length = 0;
  std::optional<std::int64_t> from, to;
  bool by_name = false;
  std::optional<MarkerOrder> sort;
  std::optional<bool> descending;
  std::uint32_t offset = 0, limit = 100;
};

struct MarkerField {
  std::string key, text;
};

// Columns, all equally long.
struct MarkerRows {
  std::vector<std::uint32_t> id;
  std::vector<std::string> name, category, thread;
  std::vector<std::int64_t> begin, end;
  std::vector<std::string> begin_text, length_text;
  std::vector<std::uint32_t> flags;  // timeline_flag
  std::vector<std::vector<MarkerField>> fields;
};
struct MarkerGroups {
  std::vector<std::string> name, category;
  std::vector<std::uint64_t> count;
  std::vector<std::string> count_text;
  std::vector<std::int64_t> length;
  std::vector<std::string> length_text, mean_text, most_text;
  std::vector<std::int64_t> first;
};

struct MarkersAnswer {
  ViewHead head;
  std::uint64_t markers = 0, matches = 0, rows = 0;
  std::int64_t length = 0;
  std::string text;
  std::int64_t begin = 0, end = 1;  // of the profile
  std::uint32_t offset = 0;
  std::optional<MarkerRows> table;  // one of the two
  std::optional<MarkerGroups> groups;
};
Needs needs_of(const MarkersRequest& request);
// Fails with `invalid` for a profile without times, a search that cannot be read and a window that is none.
Result<MarkersAnswer> markers_answer(Views& views, const MarkersRequest& request, const StopToken& stop);

struct MarkerTracksRequest {
  OpenProfilePtr open;
  ViewSpec spec;
  std::optional<std::int64_t> from, to;
  double width_px = 1200, min_width_px = 3;
  std::uint32_t max_boxes = 2000, max_tracks = 20;
  std::string search;
  std::int64_t min_length = 0;
};

// Columns, all equally long. Times are nanoseconds after the window's `from`.
struct MarkerBoxes {
  std::vector<std::uint32_t> lane;
  std::vector<std::int64_t> x, width;
  std::vector<std::uint64_t> count;
  std::vector<std::int64_t> id;    // -1: several were joined
  std::vector<std::int32_t> name;  // in `names`; -1: several of different names
  std::vector<std::string> text;
  std::vector<std::uint32_t> flags;
};
struct MarkerTracksAnswer {
  ViewHead head;
  std::int64_t begin = 0, end = 1, from = 0, to = 1;
  std::vector<std::string> names;
  struct Track {
    std::string name, filter;  // "" there is none
    std::uint32_t lanes = 0;
    std::uint64_t count = 0, no_lane = 0;
    MarkerBoxes boxes;
  };
  std::vector<Track> tracks;
  std::uint32_t track_count = 0;
  std::string left_text;  // "" none is left out
};
Needs needs_of(const MarkerTracksRequest& request);
Result<MarkerTracksAnswer> marker_tracks_answer(Views& views, const MarkerTracksRequest& request,
                                                const StopToken& stop);

}  // namespace profd
