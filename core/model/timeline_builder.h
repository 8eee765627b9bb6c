// TimelineBuilder: collects the timeline of a profile that is being made. Owned by ProfileBuilder, whose
// contexts, threads, texts and label sets it takes; rows come in any order.
//
// Nothing here fails: what does not fit the limits is dropped and counted in dropped(), which opening a file
// reports.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/model/timeline.h"
#include "core/support/growing_vector.h"
#include "core/support/interner.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct SpanSpec {
  std::int64_t begin = 0, end = kNoTime;
  ContextId context = {};
  StringId name{0u};
  ThreadId thread = {};
  TaskId task = {};
};

struct MarkerSpec {
  std::int64_t begin = 0, end = kNoTime;
  StringId name{0u}, category{0u};
  ThreadId thread = {};
  ContextId context = {};
  LabelSetId fields{0u};
};

struct CounterSpec {
  StringId name{0u}, unit{0u}, process{0u};
  ThreadId thread = {};
  bool changes = false;  // see CounterTable
};

struct TaskSpec {
  StringId name{0u};
  TaskId parent = {};  // given before
  ThreadId thread = {};
  ContextId context = {};
  std::int64_t begin = kNoTime, end = kNoTime;
};

struct TimelineLimits {
  std::size_t rows = kNone - 1;  // of one table, points of all counters together
};

// How many were left out, and ends before their begin, which are unknown instead.
struct TimelineDrops {
  std::uint64_t spans = 0, markers = 0, counters = 0, points = 0, tasks = 0, ends = 0;
};

class TimelineBuilder {
 public:
  void set_limits(const TimelineLimits& limits) { limits_ = limits; }

  void add_span(const SpanSpec& span);
  void add_marker(const MarkerSpec& marker);
  // An equal spec gives the id given before. None when there are too many.
  CounterId counter(const CounterSpec& spec);
  // From `time` on. A point of no counter is a dropped one.
  void add_point(CounterId counter, std::int64_t time, double value);
  // None when there are too many.
  TaskId add_task(const TaskSpec& spec);
  // Of all that is said of a task, the first begin and the last end stay.
  void extend_task(TaskId task, std::int64_t begin, std::int64_t end);
  void set_awaits(TaskId task, TaskId other);

  [[nodiscard]] bool empty() const {
    return span_begin_.empty() && marker_begin_.empty() && counter_name_.empty() && task_name_.empty();
  }
  [[nodiscard]] std::size_t n_tasks() const { return task_name_.size(); }
  [[nodiscard]] const TimelineDrops& dropped() const { return dropped_; }

  // Sorts and freezes. `context_of`: by context as ProfileBuilder gave it, what it is in the profile.
  Result<Timeline> finish(std::size_t n_threads, std::span<const std::uint32_t> context_of,
                          StopToken stop) &&;

 private:
  std::int64_t end_of(std::int64_t begin, std::int64_t end);
  Result<SpanTable> finish_spans(std::size_t n_threads, std::span<const std::uint32_t> context_of,
                                 StopToken& stop);
  Result<MarkerTable> finish_markers(std::size_t n_threads, std::span<const std::uint32_t> context_of,
                                     StopToken& stop);
  Result<CounterTable> finish_counters(StopToken& stop);
  TaskTable finish_tasks(std::span<const std::uint32_t> context_of);

  TimelineLimits limits_;
  TimelineDrops dropped_;

  // Optional columns begin with the first row that has something to put there.
  GrowingVector<std::int64_t> span_begin_, span_end_;
  GrowingVector<std::uint32_t> span_context_, span_thread_, span_task_;
  GrowingVector<StringId> span_name_;

  GrowingVector<std::int64_t> marker_begin_, marker_end_;
  GrowingVector<std::uint32_t> marker_thread_, marker_context_, marker_label_set_;
  GrowingVector<StringId> marker_name_, marker_category_;

  GrowingVector<StringId> counter_name_, counter_unit_, counter_process_;
  GrowingVector<std::uint32_t> counter_thread_;
  GrowingVector<std::uint8_t> counter_changes_;
  RowSet counter_rows_;
  GrowingVector<std::uint32_t> point_counter_;
  GrowingVector<std::int64_t> point_time_;
  GrowingVector<double> point_value_;

  GrowingVector<StringId> task_name_;
  GrowingVector<std::uint32_t> task_parent_, task_awaits_, task_thread_, task_context_;
  GrowingVector<std::int64_t> task_begin_, task_end_;
};

}  // namespace profd
