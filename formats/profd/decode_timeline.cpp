// The Timeline message and its tables.
#include "formats/profd/decode_tables.h"
#include "formats/profd/schema.h"
#include "formats/profd/table_columns.h"

namespace profd::profd_format {

#define PROFD_TAKE(table, member, T) \
  PROFD_TRY(out.member, columns[table::member].take<T>(sink, #table "." #member))

namespace {

Result<SpanTable> decode_spans(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<6>(message, {kW, kW, kI, kI, kI, kI}));
  SpanTable out;
  PROFD_TAKE(spans, begin, std::int64_t);
  PROFD_TAKE(spans, end, std::int64_t);
  PROFD_TAKE(spans, context, std::uint32_t);
  PROFD_TAKE(spans, name, StringId);
  PROFD_TAKE(spans, thread, std::uint32_t);
  PROFD_TAKE(spans, task, std::uint32_t);
  return out;
}

Result<MarkerTable> decode_markers(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<7>(message, {kW, kW, kI, kI, kI, kI, kI}));
  MarkerTable out;
  PROFD_TAKE(markers, begin, std::int64_t);
  PROFD_TAKE(markers, end, std::int64_t);
  PROFD_TAKE(markers, name, StringId);
  PROFD_TAKE(markers, category, StringId);
  PROFD_TAKE(markers, thread, std::uint32_t);
  PROFD_TAKE(markers, context, std::uint32_t);
  PROFD_TAKE(markers, label_set, std::uint32_t);
  return out;
}

Result<CounterTable> decode_counters(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<8>(message, {kI, kI, kI, kI, kI, kW, kW, kB}));
  CounterTable out;
  PROFD_TAKE(counters, name, StringId);
  PROFD_TAKE(counters, unit, StringId);
  PROFD_TAKE(counters, process, StringId);
  PROFD_TAKE(counters, thread, std::uint32_t);
  PROFD_TAKE(counters, first, std::uint32_t);
  PROFD_TAKE(counters, time, std::int64_t);
  PROFD_TAKE(counters, value, double);
  PROFD_TAKE(counters, changes, std::uint8_t);
  return out;
}

Result<TaskTable> decode_tasks(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<7>(message, {kI, kI, kI, kI, kI, kW, kW}));
  TaskTable out;
  PROFD_TAKE(tasks, name, StringId);
  PROFD_TAKE(tasks, parent, std::uint32_t);
  PROFD_TAKE(tasks, awaits, std::uint32_t);
  PROFD_TAKE(tasks, thread, std::uint32_t);
  PROFD_TAKE(tasks, context, std::uint32_t);
  PROFD_TAKE(tasks, begin, std::int64_t);
  PROFD_TAKE(tasks, end, std::int64_t);
  return out;
}

// Two messages of one table would have to be merged column by column.
template <class T>
Result<void> put_once(const Field& field, Result<T> (*decode)(const Field&, const ColumnBytes::Sink&),
                      const ColumnBytes::Sink& sink, std::uint32_t& seen, T& to) {
  PROFD_CHECK(expect(field, WireType::bytes));
  if ((seen >> field.number & 1) != 0)
    return fail(ErrorCode::malformed, fmt::format("field {} of a timeline comes twice", field.number),
                field.tag_offset);
  seen |= 1u << field.number;
  PROFD_TRY(to, decode(field, sink));
  return {};
}

// A column has a row for each of its table, or is absent where that says something, too.
template <class T>
Result<void> full(const Column<T>& column, std::size_t n, const char* name) {
  if (column.size() == n) return {};
  return fail(ErrorCode::malformed, fmt::format("{} has {} rows, its table has {}", name, column.size(), n));
}
template <class T>
Result<void> optional(const Column<T>& column, std::size_t n, const char* name) {
  return column.empty() ? Result<void>() : full(column, n, name);
}

}  // namespace

Result<Timeline> decode_timeline(const Field& message, const ColumnBytes::Sink& sink) {
  Timeline out;
  ColumnBytes row, state;
  std::uint32_t seen = 0;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case timeline::sample_row:
        return row.add(f, WireType::fixed32);
      case timeline::sample_state:
        return state.set(f);
      case timeline::spans:
        return put_once(f, decode_spans, sink, seen, out.spans);
      case timeline::markers:
        return put_once(f, decode_markers, sink, seen, out.markers);
      case timeline::counters:
        return put_once(f, decode_counters, sink, seen, out.counters);
      case timeline::tasks:
        return put_once(f, decode_tasks, sink, seen, out.tasks);
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(out.samples.row, row.take<std::uint32_t>(sink, "timeline.sample_row"));
  PROFD_TRY(out.samples.state, state.take<ThreadState>(sink, "timeline.sample_state"));
  return out;
}

#undef PROFD_TAKE

Result<void> complete_timeline(const ProfileData& data, bool loose) {
  const Timeline& t = *data.timeline;
  const std::size_t n_samples = data.samples ? data.samples->size() : 0;
  PROFD_CHECK(optional(t.samples.state, n_samples, "timeline.sample_state"));
  if (!loose) PROFD_CHECK(optional(t.samples.row, n_samples, "timeline.sample_row"));

  const std::size_t n_spans = t.spans.size();
  PROFD_CHECK(full(t.spans.end, n_spans, "spans.end"));
  PROFD_CHECK(optional(t.spans.context, n_spans, "spans.context"));
  PROFD_CHECK(optional(t.spans.name, n_spans, "spans.name"));
  PROFD_CHECK(optional(t.spans.thread, n_spans, "spans.thread"));
  PROFD_CHECK(optional(t.spans.task, n_spans, "spans.task"));

  const std::size_t n_markers = t.markers.size();
  PROFD_CHECK(full(t.markers.end, n_markers, "markers.end"));
  PROFD_CHECK(full(t.markers.name, n_markers, "markers.name"));
  PROFD_CHECK(optional(t.markers.category, n_markers, "markers.category"));
  PROFD_CHECK(optional(t.markers.thread, n_markers, "markers.thread"));
  PROFD_CHECK(optional(t.markers.context, n_markers, "markers.context"));
  PROFD_CHECK(optional(t.markers.label_set, n_markers, "markers.label_set"));

  const CounterTable& counters = t.counters;
  PROFD_CHECK(optional(counters.unit, counters.size(), "counters.unit"));
  PROFD_CHECK(optional(counters.process, counters.size(), "counters.process"));
  PROFD_CHECK(optional(counters.thread, counters.size(), "counters.thread"));
  PROFD_CHECK(optional(counters.changes, counters.size(), "counters.changes"));
  PROFD_CHECK(full(counters.value, counters.n_points(), "counters.value"));
  if (counters.size() == 0) {
    if (!counters.first.empty() || counters.n_points() > 0)
      return fail(ErrorCode::malformed, "counters has points and no names");
  } else {
    PROFD_CHECK(full(counters.first, counters.size() + 1, "counters.first"));
    if (counters.first[0] != 0 || counters.first[counters.size()] != counters.n_points())
      return fail(ErrorCode::malformed, "the counters do not end where their points end");
  }

  const std::size_t n_tasks = t.tasks.size();
  PROFD_CHECK(optional(t.tasks.parent, n_tasks, "tasks.parent"));
  PROFD_CHECK(optional(t.tasks.awaits, n_tasks, "tasks.awaits"));
  PROFD_CHECK(optional(t.tasks.thread, n_tasks, "tasks.thread"));
  PROFD_CHECK(optional(t.tasks.context, n_tasks, "tasks.context"));
  PROFD_CHECK(optional(t.tasks.begin, n_tasks, "tasks.begin"));
  return optional(t.tasks.end, n_tasks, "tasks.end");
}

}  // namespace profd::profd_format
