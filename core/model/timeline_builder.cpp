#include "core/model/timeline_builder.h"

#include <algorithm>
#include <cassert>

#include "core/model/row_order.h"
#include "core/support/hash.h"

namespace profd {
namespace {

// `row`: how many rows the table has by now.
template <class T>
void put(GrowingVector<T>& column, std::size_t row, T value, T nothing) {
  if (column.empty()) {
    if (value == nothing) return;
    column.resize(row, nothing);
  }
  column.push_back(value);
}

template <class T>
T get(const GrowingVector<T>& column, std::size_t row, T nothing) {
  return column.empty() ? nothing : column[row];
}

template <class T>
void set(GrowingVector<T>& column, std::size_t n_rows, std::size_t row, T value, T nothing) {
  if (column.empty()) column.resize(n_rows, nothing);
  column[row] = value;
}

// A column as it is, or by `order` when that is not empty.
template <class T>
Column<T> ordered(GrowingVector<T>& values, const BigVector<std::uint32_t>& order) {
  if (order.empty() || values.empty()) return freeze(std::move(values));
  BigVector<T> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[i] = values[order[i]];
  values = {};
  return Column<T>(std::move(out));
}

void renumber(GrowingVector<std::uint32_t>& contexts, std::span<const std::uint32_t> context_of) {
  for (std::uint32_t& context : contexts) {
    assert(context == kNone || context < context_of.size());
    context = context < context_of.size() ? context_of[context] : kNone;
  }
}

}  // namespace

std::int64_t TimelineBuilder::end_of(std::int64_t begin, std::int64_t end) {
  if (end >= begin || end == kNoTime) return end;
  ++dropped_.ends;
  return kNoTime;
}

void TimelineBuilder::add_span(const SpanSpec& span) {
  const std::size_t row = span_begin_.size();
  if (row >= limits_.rows || span.begin == kNoTime) {
    ++dropped_.spans;
    return;
  }
  span_begin_.push_back(span.begin);
  span_end_.push_back(end_of(span.begin, span.end));
  put(span_context_, row, span.context.v, kNone);
  put(span_name_, row, span.name, StringId{0u});
  put(span_thread_, row, span.thread.v, kNone);
  put(span_task_, row, span.task.v, kNone);
}

void TimelineBuilder::add_marker(const MarkerSpec& marker) {
  const std::size_t row = marker_begin_.size();
  if (row >= limits_.rows || marker.begin == kNoTime) {
    ++dropped_.markers;
    return;
  }
  marker_begin_.push_back(marker.begin);
  marker_end_.push_back(end_of(marker.begin, marker.end));
  marker_name_.push_back(marker.name);
  put(marker_category_, row, marker.category, StringId{0u});
  put(marker_thread_, row, marker.thread.v, kNone);
  put(marker_context_, row, marker.context.v, kNone);
  put(marker_label_set_, row, marker.fields.v, 0u);
}

CounterId TimelineBuilder::counter(const CounterSpec& spec) {
  std::uint64_t hash = 0;
  const std::uint8_t changes = spec.changes ? 1 : 0;
  for (const std::uint32_t part :
       {spec.name.v, spec.unit.v, spec.process.v, spec.thread.v, std::uint32_t{changes}})
    hash = hash_combine(hash, part);
  const auto next = static_cast<std::uint32_t>(counter_name_.size());
  const std::uint32_t row = counter_rows_.find_or_add(mix64(hash), next, [&](std::uint32_t r) {
    // The set also remembers what was dropped.
    return r < next && counter_name_[r] == spec.name && get(counter_unit_, r, StringId{0u}) == spec.unit &&
           get(counter_process_, r, StringId{0u}) == spec.process &&
           get(counter_thread_, r, kNone) == spec.thread.v &&
           get(counter_changes_, r, std::uint8_t{0}) == changes;
  });
  if (row < next) return CounterId{row};
  if (next >= limits_.rows) {
    ++dropped_.counters;
    return {};
  }
  counter_name_.push_back(spec.name);
  put(counter_unit_, next, spec.unit, StringId{0u});
  put(counter_process_, next, spec.process, StringId{0u});
  put(counter_thread_, next, spec.thread.v, kNone);
  put(counter_changes_, next, changes, std::uint8_t{0});
  return CounterId{row};
}

void TimelineBuilder::add_point(CounterId counter, std::int64_t time, double value) {
  if (!counter.valid() || time == kNoTime || point_time_.size() >= limits_.rows) {
    ++dropped_.points;
    return;
  }
  assert(counter.v < counter_name_.size());
  point_counter_.push_back(counter.v);
  point_time_.push_back(time);
  point_value_.push_back(value);
}

TaskId TimelineBuilder::add_task(const TaskSpec& spec) {
  const std::size_t row = task_name_.size();
  if (row >= limits_.rows) {
    ++dropped_.tasks;
    return {};
  }
  assert(!spec.parent.valid() || spec.parent.v < row);
  task_name_.push_back(spec.name);
  put(task_parent_, row, spec.parent.v < row ? spec.parent.v : kNone, kNone);
  put(task_awaits_, row, kNone, kNone);
  put(task_thread_, row, spec.thread.v, kNone);
  put(task_context_, row, spec.context.v, kNone);
  put(task_begin_, row, spec.begin, kNoTime);
  put(task_end_, row, spec.begin == kNoTime ? spec.end : end_of(spec.begin, spec.end), kNoTime);
  return TaskId{row};
}

void TimelineBuilder::extend_task(TaskId task, std::int64_t begin, std::int64_t end) {
  if (!task.valid()) return;
  const std::size_t n = task_name_.size();
  assert(task.v < n);
  std::int64_t known = get(task_begin_, task.v, kNoTime);
  if (begin != kNoTime && (known == kNoTime || begin < known)) {
    known = begin;
    set(task_begin_, n, task.v, begin, kNoTime);
  }
  // kNoTime is smaller than every time.
  if (end > get(task_end_, task.v, kNoTime)) set(task_end_, n, task.v, end, kNoTime);
  if (known == kNoTime || get(task_end_, task.v, kNoTime) == kNoTime) return;
  task_end_[task.v] = end_of(known, task_end_[task.v]);
}

void TimelineBuilder::set_awaits(TaskId task, TaskId other) {
  if (!task.valid() || task == other) return;
  assert(task.v < task_name_.size() && (!other.valid() || other.v < task_name_.size()));
  set(task_awaits_, task_name_.size(), task.v, other.v, kNone);
}

Result<SpanTable> TimelineBuilder::finish_spans(std::size_t n_threads,
                                                std::span<const std::uint32_t> context_of, StopToken& stop) {
  renumber(span_context_, context_of);
  const std::size_t n_tasks = task_name_.size();
  const auto lane = [&](std::uint32_t row) -> std::size_t {
    const std::uint32_t thread = get(span_thread_, row, kNone);
    if (thread != kNone) return thread;
    const std::uint32_t task = get(span_task_, row, kNone);
    return n_threads + (task == kNone ? n_tasks : task);
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return span_before(span_begin_[a], span_end_[a], span_begin_[b], span_end_[b]);
  };
  PROFD_TRY(const BigVector<std::uint32_t> order,
            order_rows(span_begin_.size(), n_threads + n_tasks + 1, lane, before, stop));
  SpanTable out;
  out.begin = ordered(span_begin_, order);
  out.end = ordered(span_end_, order);
  out.context = ordered(span_context_, order);
  out.name = ordered(span_name_, order);
  out.thread = ordered(span_thread_, order);
  out.task = ordered(span_task_, order);
  return out;
}

Result<MarkerTable> TimelineBuilder::finish_markers(std::size_t n_threads,
                                                    std::span<const std::uint32_t> context_of,
                                                    StopToken& stop) {
  renumber(marker_context_, context_of);
  const auto lane = [&](std::uint32_t row) -> std::size_t {
    const std::uint32_t thread = get(marker_thread_, row, kNone);
    return thread == kNone ? n_threads : thread;
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return marker_begin_[a] < marker_begin_[b]; };
  PROFD_TRY(const BigVector<std::uint32_t> order,
            order_rows(marker_begin_.size(), n_threads + 1, lane, before, stop));
  MarkerTable out;
  out.begin = ordered(marker_begin_, order);
  out.end = ordered(marker_end_, order);
  out.name = ordered(marker_name_, order);
  out.category = ordered(marker_category_, order);
  out.thread = ordered(marker_thread_, order);
  out.context = ordered(marker_context_, order);
  out.label_set = ordered(marker_label_set_, order);
  return out;
}

Result<CounterTable> TimelineBuilder::finish_counters(StopToken& stop) {
  CounterTable out;
  const std::size_t n = counter_name_.size();
  if (n == 0) return out;
  const auto lane = [&](std::uint32_t row) -> std::size_t { return point_counter_[row]; };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return point_time_[a] < point_time_[b]; };
  PROFD_TRY(const BigVector<std::uint32_t> order, order_rows(point_time_.size(), n, lane, before, stop));
  std::vector<std::uint32_t> first(n + 1, 0);
  for (const std::uint32_t counter : point_counter_) ++first[counter + 1];
  for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
  point_counter_ = {};
  out.name = freeze(std::move(counter_name_));
  out.unit = freeze(std::move(counter_unit_));
  out.process = freeze(std::move(counter_process_));
  out.thread = freeze(std::move(counter_thread_));
  out.changes = freeze(std::move(counter_changes_));
  out.first = Column<std::uint32_t>(std::move(first));
  out.time = ordered(point_time_, order);
  out.value = ordered(point_value_, order);
  return out;
}

TaskTable TimelineBuilder::finish_tasks(std::span<const std::uint32_t> context_of) {
  renumber(task_context_, context_of);
  TaskTable out;
  out.name = freeze(std::move(task_name_));
  out.parent = freeze(std::move(task_parent_));
  out.awaits = freeze(std::move(task_awaits_));
  out.thread = freeze(std::move(task_thread_));
  out.context = freeze(std::move(task_context_));
  out.begin = freeze(std::move(task_begin_));
  out.end = freeze(std::move(task_end_));
  return out;
}

Result<Timeline> TimelineBuilder::finish(std::size_t n_threads, std::span<const std::uint32_t> context_of,
                                         StopToken stop) && {
  Timeline out;
  PROFD_TRY(out.spans, finish_spans(n_threads, context_of, stop));
  PROFD_TRY(out.markers, finish_markers(n_threads, context_of, stop));
  PROFD_TRY(out.counters, finish_counters(stop));
  out.tasks = finish_tasks(context_of);
  return out;
}

}  // namespace profd
