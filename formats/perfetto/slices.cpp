#include "formats/perfetto/slices.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include <fmt/format.h>

#include "formats/support/call_spans.h"

namespace profd::perfetto {
namespace {

using protobuf::Field;
using protobuf::Wire;

std::int64_t after(std::int64_t time, std::int64_t us) {
  std::int64_t ns, end;
  if (__builtin_mul_overflow(us, 1000, &ns) || __builtin_add_overflow(time, ns, &end)) return INT64_MAX;
  return end;
}

}  // namespace

void Slices::add_track(Cursor in) {
  namespace descriptor = schema::track_descriptor;
  std::uint64_t uuid = 0;
  Track track;
  std::string_view cmdline;
  Field field, part;
  while (!in.done() && read_field(in, field)) {
    if (field.wire == Wire::varint) {
      if (field.number == descriptor::uuid) uuid = field.value;
      if (field.number == descriptor::parent_uuid) {
        track.parent = field.value;
        track.has_parent = true;
      }
      continue;
    }
    if (field.wire != Wire::length) continue;
    Cursor at = field.bytes;
    if (field.number == descriptor::name || field.number == descriptor::static_name ||
        field.number == descriptor::atrace_name) {
      track.name = text_of(field.bytes);
    } else if (field.number == descriptor::process) {
      namespace process = schema::process_descriptor;
      track.process = true;
      while (!at.done() && read_field(at, part)) {
        if (part.number == process::pid && part.wire == Wire::varint)
          track.pid = static_cast<std::int32_t>(part.value);
        if (part.number == process::cmdline && part.wire == Wire::length && cmdline.empty())
          cmdline = text_of(part.bytes);
        if (part.number == process::process_name && part.wire == Wire::length)
          track.process_name = text_of(part.bytes);
      }
      if (track.process_name.empty()) track.process_name = cmdline;
    } else if (field.number == descriptor::thread) {
      namespace thread = schema::thread_descriptor;
      while (!at.done() && read_field(at, part)) {
        if (part.number == thread::pid && part.wire == Wire::varint)
          track.pid = static_cast<std::int32_t>(part.value);
        if (part.number == thread::tid && part.wire == Wire::varint)
          track.tid = static_cast<std::int32_t>(part.value);
        if (part.number == thread::thread_name && part.wire == Wire::length)
          track.thread_name = text_of(part.bytes);
      }
    } else if (field.number == descriptor::counter) {
      read_counter(at, track);
    }
  }
  tracks_.insert_or_assign(uuid, track);
}

void Slices::read_counter(Cursor in, Track& track) {
  namespace counter = schema::counter_descriptor;
  namespace unit = schema::counter_unit;
  Field field;
  while (!in.done() && read_field(in, field)) {
    if (field.number == counter::unit_name && field.wire == Wire::length) track.unit = text_of(field.bytes);
    if (field.wire != Wire::varint) continue;
    if (field.number == counter::unit && track.unit.empty())
      track.unit = field.value == unit::unit_time_ns      ? "ns"
                   : field.value == unit::unit_count      ? "count"
                   : field.value == unit::unit_size_bytes ? "bytes"
                                                          : "";
    if (field.number == counter::unit_multiplier) track.multiplier = static_cast<std::int64_t>(field.value);
    if (field.number == counter::is_incremental) track.changes = field.value != 0;
  }
}

std::uint32_t Slices::track_row(std::uint64_t uuid) {
  const auto [at, is_new] = track_rows_.try_emplace(uuid, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({.uuid = uuid});
  return at->second;
}

std::uint32_t Slices::thread_row(std::int64_t pid, std::int64_t tid) {
  const auto [at, is_new] = thread_rows_.try_emplace({pid, tid}, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({.legacy = true, .pid = pid, .tid = tid});
  return at->second;
}

std::uint32_t Slices::Names::row(const Name& name) {
  const auto [at, is_new] = rows.try_emplace(name, static_cast<std::uint32_t>(list.size()));
  if (is_new) list.push_back(name);
  return at->second;
}

void Slices::add_event(Cursor in, const Sequence& sequence, std::int64_t time, std::uint64_t offset) {
  namespace of_event = schema::track_event;
  namespace of_legacy = schema::legacy_event;
  namespace event_type = schema::track_event_type;
  std::uint64_t type = 0, track = sequence.track, name_id = 0;
  bool has_track = sequence.has_track, legacy = false, has_arguments = false, has_flow = false;
  Name name;
  std::uint64_t phase = 0, legacy_name = 0;
  std::optional<double> value;
  bool more_values = false;
  std::int64_t duration_us = -1, pid = sequence.pid, tid = sequence.tid;
  Field field, part;
  while (!in.done() && read_field(in, field)) {
    switch (field.number) {
      case of_event::category_iids:
        if (name.category.empty() && field.wire == Wire::varint)
          name.category = name_at(sequence.interned.categories, field.value);
        break;
      case of_event::debug_annotations:
        has_arguments = true;
        break;
      case of_event::legacy_event:
        if (field.wire != Wire::length) break;
        legacy = true;
        for (Cursor at = field.bytes; !at.done() && read_field(at, part);) {
          if (part.wire != Wire::varint) continue;
          if (part.number == of_legacy::name_iid) legacy_name = part.value;
          if (part.number == of_legacy::phase) phase = part.value;
          if (part.number == of_legacy::duration_us) duration_us = static_cast<std::int64_t>(part.value);
          if (part.number == of_legacy::pid_override) pid = static_cast<std::int32_t>(part.value);
          if (part.number == of_legacy::tid_override) tid = static_cast<std::int32_t>(part.value);
        }
        break;
      case of_event::type:
        type = field.value;
        break;
      case of_event::name_iid:
        if (field.wire == Wire::varint) name_id = field.value;
        break;
      case of_event::track_uuid:
        if (field.wire != Wire::varint) break;
        track = field.value;
        has_track = true;
        break;
      case of_event::categories:
        if (name.category.empty() && field.wire == Wire::length) name.category = text_of(field.bytes);
        break;
      case of_event::name:
        if (field.wire == Wire::length) name.name = text_of(field.bytes);
        break;
      case of_event::source_location:
        if (field.wire != Wire::length) break;
        for (Cursor at = field.bytes; !at.done() && read_field(at, part);) {
          if (part.number == schema::source_location::file_name && part.wire == Wire::length)
            name.place.file = text_of(part.bytes);
          if (part.number == schema::source_location::line_number && part.wire == Wire::varint)
            name.place.line = static_cast<std::uint32_t>(part.value);
        }
        break;
      case of_event::source_location_iid:
        if (const auto place = sequence.interned.places.find(field.value);
            place != sequence.interned.places.end())
          name.place = place->second;
        break;
      case of_event::counter_value:
        if (field.wire == Wire::varint) value = static_cast<double>(static_cast<std::int64_t>(field.value));
        break;
      case of_event::double_counter_value:
        if (field.wire == Wire::fixed64) value = std::bit_cast<double>(field.value);
        break;
      case of_event::extra_counter_values:
      case of_event::extra_double_counter_values:
        more_values = true;
        break;
      case of_event::flow_ids:
      case of_event::terminating_flow_ids:
        has_flow = true;
        break;
      default:
        break;
    }
  }
  if (name.name.empty())
    name.name = name_at(sequence.interned.event_names, name_id != 0 ? name_id : legacy_name);
  if (more_values)
    context_.report.add("extra-counters", Severity::info,
                        "values of counters that come with other events were not read", offset);
  const auto row = [&] {
    return !has_track && (sequence.has_thread || tid >= 0) ? thread_row(pid, tid) : track_row(track);
  };
  Event event;
  event.time = time;
  event.order = static_cast<std::uint32_t>(events_.size());
  // Of legacy events, beside the types of the schema.
  constexpr std::uint64_t kComplete = 100, kOther = 101;
  if (type == event_type::type_unspecified && legacy) {
    type = phase == 'B'   ? std::uint64_t{event_type::type_slice_begin}
           : phase == 'E' ? std::uint64_t{event_type::type_slice_end}
           : phase == 'X' ? kComplete
                          : kOther;
    if (phase == 'I' || phase == 'i' || phase == 'R') type = event_type::type_instant;
    if (phase == 'C') type = event_type::type_counter;
  }
  switch (type) {
    case event_type::type_slice_begin:
      event.kind = Kind::begin;
      ++n_slices_;
      break;
    case event_type::type_slice_end:
      event.kind = Kind::end;
      break;
    case kComplete:
      event.kind = Kind::complete;
      event.end = after(time, std::max<std::int64_t>(duration_us, 0));
      if (duration_us < 0)
        context_.report.add("no-duration", Severity::loss, "complete events without a duration count as 0",
                            offset);
      ++n_slices_;
      break;
    case event_type::type_instant:
      notes_.push_back({time, row(), note_names_.row(name)});
      break;
    case event_type::type_counter:
      if (value)
        points_.push_back({time, track, *value});
      else
        context_.report.add("counter-without-value", Severity::loss,
                            "counter events that hold no value of their track were not read", offset);
      return;
    default:
      context_.report.add("other-event", Severity::loss, "asynchronous and unknown events were not read",
                          offset);
      return;
  }
  if (has_arguments)
    context_.report.add("event-arguments", Severity::info, "arguments of slices and instants were not read",
                        offset);
  if (has_flow) context_.report.add("flow", Severity::info, "flows between slices were not read", offset);
  if (type == event_type::type_instant) return;
  event.track = row();
  event.name = event.kind == Kind::end ? 0 : slice_names_.row(name);
  events_.push_back(event);
}

std::int64_t Slices::first_time() const {
  std::int64_t first = INT64_MAX;
  for (const Event& event : events_) first = std::min(first, event.time);
  return first;
}

ThreadSpec Slices::describe(std::uint64_t index, std::string& text) const {
  const Row& row = rows_[index];
  if (row.legacy) return names_.spec(row.pid, row.tid);
  const auto found = tracks_.find(row.uuid);
  if (found == tracks_.end()) {
    text = row.uuid == 0 ? "global track" : fmt::format("track {}", row.uuid);
    return {.name = text};
  }
  const Track& track = found->second;
  ThreadSpec spec{.name = track.name, .process_name = track.process_name, .tid = track.tid, .pid = track.pid};
  if (track.tid >= 0) {
    const ThreadSpec known = names_.spec(track.pid, track.tid);
    if (!track.thread_name.empty()) spec.name = track.thread_name;
    if (spec.name.empty()) spec.name = known.name;
    spec.process_name = known.process_name;
  }
  // A parent is a process track or the thread of an asynchronous track; bounded, since a file can make a
  // ring.
  const Track* above = &track;
  for (int i = 0; i < 16 && (spec.pid < 0 || spec.process_name.empty()) && above->has_parent; ++i) {
    const auto next = tracks_.find(above->parent);
    if (next == tracks_.end()) break;
    above = &next->second;
    if (spec.pid < 0) spec.pid = above->pid;
    if (spec.process_name.empty()) spec.process_name = above->process_name;
  }
  if (spec.process_name.empty())
    if (const auto process = names_.process.find(spec.pid); process != names_.process.end())
      spec.process_name = process->second;
  return spec;
}

TaskId Slices::task_of(std::uint32_t index, TimelineBuilder& timeline, ProfileBuilder& builder) {
  const Row& row = rows_[index];
  if (row.legacy) return {};
  // A thread's track or one under it is the thread's; a ring has no end and no task above it.
  std::vector<std::uint64_t> path;
  for (std::uint64_t uuid = row.uuid; path.size() < kMaxTracks;) {
    const auto found = tracks_.find(uuid);
    if (found != tracks_.end() && found->second.tid >= 0) return {};
    if (found != tracks_.end() && found->second.process && !path.empty()) break;
    path.push_back(uuid);
    if (found == tracks_.end() || !found->second.has_parent) break;
    uuid = found->second.parent;
    if (tracks_.find(uuid) == tracks_.end()) break;
  }
  TaskId task;
  for (; !path.empty(); path.pop_back()) {
    const auto [at, is_new] = tasks_.try_emplace(path.back());
    if (is_new) {
      std::string text;
      const ThreadSpec spec = describe(track_row(path.back()), text);
      at->second = timeline.add_task(
          {.name = builder.string(spec.name.empty() ? spec.process_name : spec.name), .parent = task});
    }
    task = at->second;
  }
  return task;
}

void Slices::add_notes(ProfileBuilder& builder, std::int64_t origin) const {
  TimelineBuilder& out = builder.timeline();
  std::unordered_map<std::uint32_t, ThreadId> threads;
  std::string text;
  for (const Note& note : notes_) {
    ThreadId& thread = threads[note.track];
    if (!thread.valid()) thread = builder.thread(describe(note.track, text));
    const Name& name = note_names_.list[note.name];
    out.add_marker({.begin = note.time - origin,
                    .end = note.time - origin,
                    .name = builder.string(name.name),
                    .category = builder.string(name.category),
                    .thread = thread});
  }
  std::unordered_map<std::uint64_t, CounterId> counters;
  std::unordered_set<CounterId> used;
  for (const Point& point : points_) {
    const auto found = tracks_.find(point.track);
    CounterId& counter = counters[point.track];
    if (!counter.valid()) {
      CounterSpec spec{.name = builder.string(fmt::format("track {}", point.track))};
      if (found != tracks_.end()) {
        const Track& track = found->second;
        if (!track.name.empty()) spec.name = builder.string(track.name);
        spec.unit = builder.string(track.unit);
        spec.changes = track.changes;
        const auto above = tracks_.find(track.parent);
        if (track.has_parent && above != tracks_.end()) {
          spec.process = builder.string(
              above->second.pid < 0 ? std::string(above->second.process_name)
                                    : fmt::format("{} ({})", above->second.process_name, above->second.pid));
          if (above->second.tid >= 0)
            spec.thread = builder.thread(names_.spec(above->second.pid, above->second.tid));
        }
      }
      counter = out.counter(spec);
      // Two tracks of one name stay two.
      if (!used.insert(counter).second) {
        spec.name = builder.string(fmt::format("{} [{}]", builder.text(spec.name), point.track));
        counter = out.counter(spec);
        used.insert(counter);
      }
    }
    const double scale = found != tracks_.end() && found->second.multiplier != 0
                             ? static_cast<double>(found->second.multiplier)
                             : 1;
    out.add_point(counter, point.time - origin, point.value * scale);
  }
}

Result<void> Slices::build(ProfileBuilder& builder, std::int64_t origin) {
  builder.info().name = "slices";
  builder.add_metric("wall", "nanoseconds");
  std::vector<FrameId> frames;
  for (const Name& name : slice_names_.list) {
    FunctionSpec function{.name = builder.string(name.name.empty() ? "(unnamed slice)" : name.name),
                          .file = builder.string(name.place.file)};
    FrameSpec frame{.function = builder.function(function), .line = name.place.line};
    if (!name.category.empty()) frame.module = builder.module({.name = name.category});
    frames.push_back(builder.frame(frame));
  }
  // By track, then time. Of events at one time, longer complete ones come first: they hold the others.
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    if (a.track != b.track) return a.track < b.track;
    if (a.time != b.time) return a.time < b.time;
    if (a.kind == Kind::complete && b.kind == Kind::complete && a.end != b.end) return a.end > b.end;
    return a.order < b.order;
  });
  std::int64_t last = INT64_MIN;
  for (const Event& event : events_) last = std::max({last, event.time, event.end});
  std::uint64_t n_unmatched = 0, n_open = 0, n_too_deep = 0;
  constexpr std::int64_t kOpen = INT64_MAX;
  for (std::size_t i = 0; i < events_.size();) {
    const std::uint32_t track = events_[i].track;
    PROFD_CHECK(context_.stop.status());
    std::string text;
    SampleContext where;
    where.thread = builder.thread(describe(track, text));
    CallSpans spans(builder, where);
    spans.keep_spans(task_of(track, builder.timeline(), builder));
    std::vector<std::int64_t> ends;  // of the open slices; kOpen where an end event will say
    for (; i < events_.size() && events_[i].track == track; ++i) {
      const Event& event = events_[i];
      while (!ends.empty() && ends.back() <= event.time) {
        spans.leave(ends.back() - origin);
        ends.pop_back();
      }
      if (event.kind == Kind::end) {
        if (ends.empty() || ends.back() != kOpen) {
          ++n_unmatched;
          continue;
        }
        spans.leave(event.time - origin);
        ends.pop_back();
      } else if (ends.size() >= context_.limits.stack_depth) {
        ++n_too_deep;
      } else {
        spans.enter(frames[event.name], event.time - origin);
        ends.push_back(event.kind == Kind::complete ? std::min(event.end, kOpen - 1) : kOpen);
      }
    }
    while (!ends.empty()) {
      if (ends.back() == kOpen) {
        ++n_open;
        spans.leave_unfinished(last - origin);
      } else {
        spans.leave(std::min(ends.back(), last) - origin);
      }
      ends.pop_back();
    }
  }
  builder.set_n_samples(n_slices_);
  builder.info().duration_ns = last - origin;
  context_.report.add("open-slice", Severity::info, "slices without an end last until the end of the trace",
                      std::nullopt, n_open);
  context_.report.add("end-without-begin", Severity::loss, "ends of slices that did not begin were not read",
                      std::nullopt, n_unmatched);
  if (n_too_deep > 0) return fail(ErrorCode::limit, "slices nest deeper than the limit stack_depth");
  return {};
}

}  // namespace profd::perfetto
