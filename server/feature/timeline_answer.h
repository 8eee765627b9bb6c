// A timeline as clients get it: the load of tracks in a window of time, and flame charts of some of them, as
// columns with names and texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/timeline.h"
#include "server/feature/flame_answer.h"

namespace profd {

struct TimelineRequest {
  OpenProfilePtr open;
  ViewSpec spec;                         // its shape does not matter
  std::optional<std::int64_t> from, to;  // of what is looked at; absent: all there is
  double width_px = 1200, min_width_px = 2;
  std::uint32_t max_boxes = 2000;                    // of all charts together
  std::optional<std::vector<std::uint32_t>> charts;  // tracks by id; absent: the first
  std::uint32_t max_tracks = 50, columns = 200;
};

// Columns, all equally long. Times are nanoseconds after the window's `from`.
struct TimelineBoxes {
  std::vector<std::uint32_t> depth;
  std::vector<Value> x, width;
  std::vector<std::uint64_t> count;
  std::vector<std::int32_t> name;  // in `names`; -1: joined
  std::vector<Value> value;
  std::vector<std::string> text;
  std::vector<std::uint32_t> flags;  // timeline_flag
  std::vector<std::optional<FrameKind>> kind;
};
namespace timeline_flag {
inline constexpr std::uint32_t kOpen = 1, kInlined = 2;
}

struct TimelineAnswer {
  ViewHead head;
  std::int64_t begin = 0, end = 1;  // of the profile
  std::int64_t from = 0, to = 1;    // of the window
  std::string window_text, filter, basis;
  double full = 0;  // load that fills a track
  std::string full_text;
  std::uint32_t columns = 0;
  struct Track {
    std::uint32_t id = 0;
    TrackKind kind = TrackKind::thread;
    std::string name, filter;  // "" there is none
    Amount amount;
    std::string load_text;
    std::vector<double> load;
  };
  std::vector<Track> tracks;
  std::optional<Remainder> left;
  std::vector<std::string> names, labels;
  std::vector<std::vector<std::uint32_t>> cuts;
  NameColumns named;
  std::vector<std::string> groups;
  struct Chart {
    std::uint32_t track = 0, rows = 0, lanes = 0;
    std::int64_t min_width = 1;
    TimelineBoxes boxes;
    std::vector<std::int64_t> gap_x, gap_width;
    std::vector<std::string> gap_text;
    std::vector<std::string> notes;
  };
  std::vector<Chart> charts;
};
Needs needs_of(const TimelineRequest& request);
// Fails with `invalid` for a profile without times and a window that is none, with `not_found` for a track
// that is not there.
Result<TimelineAnswer> timeline_answer(Views& views, const TimelineRequest& request, const StopToken& stop);

// A moment as people read it, so fine that two `apart` nanoseconds from each other are told apart: "1.2504
// s".
std::string moment_text(std::int64_t ns, std::int64_t apart);

}  // namespace profd
