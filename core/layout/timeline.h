// A timeline as it is drawn: flame charts whose x axis is time, as deep and as fine as a screen shows them.
// What is wide enough is a box of its own with its true begin and end. What is not is joined, row by row,
// between wide boxes and where nothing ran, and says how many boxes it is and how long they ran: exactly, so
// that of every row the boxes here count all boxes of the window and all of their time in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/layout/timeline_tracks.h"
#include "core/layout/track_rows.h"

namespace profd {

// At most so many lanes a track; what finds none is counted.
inline constexpr std::size_t kMaxLanes = 50;

// Of samples, what is a box: contexts with one path of keys are one class. The charts of a view share it.
struct TimelineBoxClasses {
  PathClasses classes;
  BigVector<std::uint16_t> depth;  // by class
  [[nodiscard]] std::size_t memory() const;
};
Result<std::shared_ptr<const TimelineBoxClasses>> timeline_classes(const Selection& selection,
                                                                   StopToken stop);

// A track made ready to be drawn.
struct TrackChart {
  SelectionPtr selection;
  std::shared_ptr<const TimelineTracks> tracks;
  std::shared_ptr<const TimelineBoxClasses> boxes;
  TrackRows calls;               // the stack, of samples or of spans that lie inside each other
  std::vector<TrackRows> lanes;  // spans that overlap without being called from one another
  std::uint64_t no_lane = 0;     // those that found none
  // Of spans, where filters leave some out: by span from `first_span` on the one around it; kNone.
  BigVector<std::uint32_t> outer;
  std::uint32_t first_span = 0;

  [[nodiscard]] std::size_t memory() const;  // of its own
};

// Costs a look at every sample or span of the track.
Result<std::shared_ptr<const TrackChart>> chart_of(const SelectionPtr& selection,
                                                   std::shared_ptr<const TimelineTracks> tracks,
                                                   std::shared_ptr<const TimelineBoxClasses> boxes,
                                                   const TimelineTrack& track, StopToken stop);

struct ChartRequest {
  std::int64_t from = 0, to = 1;  // the window; `to` is later
  double width_px = 1200;
  double min_width_px = 2;  // what is narrower is joined; up to eight times that where there are too many
  std::uint32_t max_boxes = 5000;
};

// Row i of every column is box i; row by row, each from left to right.
struct ChartLayout {
  std::vector<std::uint32_t> depth;      // 0: the outermost. From `rows` on: lanes
  std::vector<std::int64_t> begin, end;  // of one box its own, of joined ones what they lie in
  std::vector<std::uint64_t> count;      // 1: one box
  std::vector<std::int64_t> busy;        // how long it, or any of the joined, ran in the window
  std::vector<double> value;             // of one box what its samples hold, or how long the span took
  std::vector<std::uint64_t> samples;    // of one box of samples: how many of them hold something
  std::vector<Key> key;                  // kNone: joined, or a span without a context
  std::vector<StringId> name;            // of a span without a context
  std::vector<std::uint32_t> context;    // of one box, one of those behind it; kNone
  std::vector<std::uint8_t> open;        // of one box: its end is not known
  std::vector<std::int64_t> gap_begin, gap_end;  // no samples
  std::uint32_t rows = 0, lanes = 0;             // that have something in the window
  std::uint32_t rows_left_out = 0;               // of these, below those that are here: too many boxes
  std::int64_t min_width = 1;                    // nanoseconds; what is shorter was joined
  [[nodiscard]] std::size_t size() const { return depth.size(); }
};
Result<ChartLayout> layout_chart(const TrackChart& chart, const ChartRequest& request, StopToken stop);

}  // namespace profd
