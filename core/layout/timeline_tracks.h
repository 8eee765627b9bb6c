// The tracks of a timeline: which threads a view has, from when to when, and how much they hold in any window
// of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/layout/track_rows.h"
#include "core/view/path_classes.h"
#include "core/view/selection.h"

namespace profd {

enum class TrackKind : std::uint8_t {
  thread,
  no_thread,  // samples of which no thread is known, and spans of no thread and no task beside them
  tasks,      // other spans of no thread
};

struct TimelineTrack {
  std::uint32_t id = 0;  // the thread, or the number of threads and one more for the others
  TrackKind kind = TrackKind::thread;
  double total = 0;                   // of what passed, in the metric
  std::uint32_t first = 0, last = 0;  // of the order of samples: those with a time
  std::uint32_t first_span = 0, last_span = 0;
};

// Where column `column` of `n` begins, and the one before it ends.
std::int64_t column_edge(std::int64_t from, std::int64_t to, std::size_t column, std::size_t n);

// Positions are those of Timeline::samples. What does not pass the filters holds nothing.
class TimelineTracks {
 public:
  // `invalid`, with the reason, for a profile without times, or with times too far apart to be counted.
  static Result<TimelineTracks> of(const SelectionPtr& selection, StopToken stop);

  [[nodiscard]] const std::vector<TimelineTrack>& tracks() const { return tracks_; }  // most first
  [[nodiscard]] const TimelineTrack* find(std::uint32_t id) const;
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }  // after begin()
  // Of the metric: nanoseconds of one of its unit where it is of time, else 0; and whether its values are
  // durations, which a window cuts.
  [[nodiscard]] std::int64_t time_scale() const { return time_scale_; }
  [[nodiscard]] bool durations() const { return durations_; }
  // Some metric of the profile is of durations: a tracer wrote it.
  [[nodiscard]] bool traced() const { return traced_; }
  // The metric whose values say how long a sample lasts, where one does.
  [[nodiscard]] std::optional<MetricId> lasts() const { return lasts_; }
  [[nodiscard]] double without_time() const { return without_time_; }
  // How long samples lie apart as the source says; 0: it does not.
  [[nodiscard]] std::int64_t period() const { return period_; }

  // What the samples at positions [first, last) hold, and how many of them hold something.
  [[nodiscard]] double sum(std::uint32_t first, std::uint32_t last) const;
  [[nodiscard]] std::uint64_t count(std::uint32_t first, std::uint32_t last) const;
  // Of a track, by column of [from, to): what belongs there; durations by how much of them lies there. The
  // columns are `n` parts, equally long as far as nanoseconds go.
  [[nodiscard]] std::vector<double> load(const TimelineTrack& track, std::int64_t from, std::int64_t to,
                                         std::size_t n) const;
  // Of the sample at a position, 0 where it does not pass.
  [[nodiscard]] double value(std::uint32_t position) const;
  [[nodiscard]] bool passes(std::uint32_t position) const {
    return passes_.empty() || passes_[position] != 0;
  }

  [[nodiscard]] std::size_t memory() const;

 private:
  [[nodiscard]] std::int64_t time(std::uint32_t position) const;
  [[nodiscard]] std::uint32_t position_at(const TimelineTrack& track, std::int64_t time) const;
  // Of a duration at a position, what lies before a moment.
  [[nodiscard]] double before(std::uint32_t position, std::int64_t time) const;

  SelectionPtr selection_;
  std::vector<TimelineTrack> tracks_;
  std::int64_t begin_ = 0, end_ = 1, time_scale_ = 0, period_ = 0;
  bool durations_ = false, traced_ = false;
  std::optional<MetricId> lasts_;
  double without_time_ = 0;
  Column<double> values_;  // by position, where filters left something out or cut it; else the profile's
  std::vector<std::uint8_t> passes_;  // the same
  std::vector<double> sums_;          // before each block of positions
  std::vector<std::uint32_t> counts_;
};

}  // namespace profd
