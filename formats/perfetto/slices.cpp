#include "formats/perfetto/slices.h"

#include <algorithm>

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
    }
  }
  tracks_.insert_or_assign(uuid, track);
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

std::uint32_t Slices::name_row(const Name& name) {
  const auto [at, is_new] = name_rows_.try_emplace(name, static_cast<std::uint32_t>(slice_names_.size()));
  if (is_new) slice_names_.push_back(name);
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
      context_.report.add("instant-event", Severity::info,
                          "instant events have no duration and were not read", offset);
      return;
    case event_type::type_counter:
      context_.report.add("counter", Severity::info, "values of counter tracks were not read", offset);
      return;
    default:
      context_.report.add("other-event", Severity::loss, "asynchronous and unknown events were not read",
                          offset);
      return;
  }
  if (has_arguments)
    context_.report.add("event-arguments", Severity::info, "arguments of slices were not read", offset);
  if (has_flow) context_.report.add("flow", Severity::info, "flows between slices were not read", offset);
  event.track = !has_track && (sequence.has_thread || tid >= 0) ? thread_row(pid, tid) : track_row(track);
  event.name = event.kind == Kind::end ? 0 : name_row(name);
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

Result<void> Slices::build(ProfileBuilder& builder, std::int64_t origin) {
  builder.info().name = "slices";
  builder.add_metric("wall", "nanoseconds");
  std::vector<FrameId> frames;
  for (const Name& name : slice_names_) {
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
      n_open += ends.back() == kOpen;
      spans.leave(std::min(ends.back(), last) - origin);
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
