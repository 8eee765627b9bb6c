// Timeline: what a source tells of time beside the values of its samples. A profile has none where the source
// tells no times; what a table lacks then costs nothing.
//
// Times are those of SampleTable::time: nanoseconds since Profile::info().time_ns or since the start of the
// recording. An end is never before its begin, and kNoTime where nobody knows it: the recording ended first,
// or the source names begins alone. Threads are rows of Profile::threads(), contexts of Profile::tree(),
// texts of Profile::strings(), fields of Profile::labels(); none (kNone) where the source does not say.
//
// A column is as long as its table. Those named optional are empty where every row has what stands behind
// them; value_or() reads either. Tables are made by TimelineBuilder or read by the native reader, which both
// see to the orders below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

// A time that nobody knows.
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// What a thread did when it was measured.
enum class ThreadState : std::uint8_t {
  unknown,
  running,  // on a processor, or ready to be
  waiting,  // off it: asleep, blocked, parked
};
inline constexpr std::uint8_t kNThreadStates = 3;

// The samples of the sample table by thread, then time, then row. Those without a thread come last, those
// without a time first of their thread.
struct SampleOrder {
  Column<std::uint32_t> row;  // empty where rows stand in that order already
  Column<ThreadState> state;  // by row of the sample table, not by this order. Optional: unknown
  std::uint32_t row_at(std::uint32_t i) const { return row.empty() ? i : row[i]; }
};

// Something that took its time: a call that a tracer saw, a step of a task. By thread; those of no thread
// after them by task, those of neither last. Then by begin, the longer first (an unknown end is the longest),
// so that a span comes before those inside it.
struct SpanTable {
  Column<std::int64_t> begin, end;
  Column<std::uint32_t> context;  // what ran, with all that called it. Optional: kNone, the name says it
  Column<StringId> name;          // where no context says it. Optional: ""
  Column<std::uint32_t> thread;   // optional: kNone
  Column<std::uint32_t> task;     // the task it is a step of. Optional: kNone
  std::size_t size() const { return begin.size(); }
};

// Something that the source noted. By thread (none last), then begin. What has no duration ends as it begins.
struct MarkerTable {
  Column<std::int64_t> begin, end;
  Column<StringId> name;
  Column<StringId> category;        // optional: ""
  Column<std::uint32_t> thread;     // optional: kNone
  Column<std::uint32_t> context;    // where it happened. Optional: kNone
  Column<std::uint32_t> label_set;  // its fields. Optional: 0
  std::size_t size() const { return begin.size(); }
};

// Numbers that change. Counter i has the points [first[i], first[i + 1]), by time.
struct CounterTable {
  Column<StringId> name;
  Column<StringId> unit;         // "bytes". Optional: ""
  Column<StringId> process;      // whose it is, its name and number. Optional: ""
  Column<std::uint32_t> thread;  // whose it is. Optional: kNone
  Column<std::uint32_t> first;   // one more than there are counters; empty without any
  Column<std::int64_t> time;     // of a point; never kNoTime
  Column<double> value;          // from then on
  Column<std::uint8_t> changes;  // by counter, 1: a value is what came since the point before. Optional: 0
  std::size_t size() const { return name.size(); }
  std::size_t n_points() const { return time.size(); }
};

// An asynchronous context beside the threads: a coroutine, a future, a request, an asynchronous track of a
// tracer. A task comes after its parent.
struct TaskTable {
  Column<StringId> name;
  Column<std::uint32_t> parent;     // what made it. Optional: kNone
  Column<std::uint32_t> awaits;     // another task that it waits for. Optional: kNone
  Column<std::uint32_t> thread;     // where it was made. Optional: kNone
  Column<std::uint32_t> context;    // where it was made. Optional: kNone
  Column<std::int64_t> begin, end;  // optional: kNoTime
  std::size_t size() const { return name.size(); }
};

struct Timeline {
  SampleOrder samples;
  SpanTable spans;
  MarkerTable markers;
  CounterTable counters;
  TaskTable tasks;

  [[nodiscard]] std::size_t memory() const;
};

}  // namespace profd
