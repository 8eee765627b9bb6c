// What a recording has of the scheduler: its tracepoints, and records of context switches.
#include "core/support/text.h"
#include "formats/perf_data/session.h"

namespace profd::perf_data {
namespace {

constexpr std::uint32_t kTracepointType = 2;

}  // namespace

const Session::SchedulingEvent& Session::scheduling_of(const Event& event) {
  const auto row = static_cast<std::size_t>(&event - events_.data());
  if (scheduling_events_.size() < events_.size()) scheduling_events_.resize(events_.size());
  std::optional<SchedulingEvent>& known = scheduling_events_[row];
  if (known) return *known;
  known.emplace();
  if (event.attr.type != kTracepointType) return *known;
  const auto format = features_.tracepoints.find(event.attr.config);
  if (format != features_.tracepoints.end()) {
    known->kind = scheduler_tracepoint(format->second.name);
    known->format = &format->second;
    return *known;
  }
  std::string_view name = event.name;
  if (name.empty() && !event.ids.empty())
    for (const EventDescription& description : features_.events)
      if (!description.ids.empty() && description.ids.front() == event.ids.front()) name = description.name;
  known->kind = scheduler_tracepoint(name);
  known->format = &usual_format(known->kind);
  return *known;
}

void Session::note_scheduling(const Event& event) {
  const SampleRow& sampled = rows_.back();
  if (sampled.time == SampleRow::kNoTime) return;
  const auto row = static_cast<std::uint32_t>(rows_.size() - 1);
  const SchedulingEvent& scheduling = scheduling_of(event);
  if (scheduling.kind == SchedulerTracepoint::none) {
    constexpr std::uint32_t kSoftware = 1, kHardware = 0;
    constexpr std::uint64_t kCycles = 0, kCpuClock = 0, kTaskClock = 1;
    const Attr& attr = event.attr;
    const bool clock = attr.type == kSoftware && (attr.config == kCpuClock || attr.config == kTaskClock);
    if (clock || (attr.type == kHardware && attr.config == kCycles))
      scheduling_.add_sample(sampled.time, row, sample_.tid);
    return;
  }
  if (event.attr.frequency() || sample_.period != 1) {
    scheduling_.add_sampled();
    return;
  }
  if (scheduling.kind == SchedulerTracepoint::switches) {
    SchedulerSwitch switched;
    if (!decode_switch(*scheduling.format, sample_.raw, switched)) return;
    scheduling_.add_switch(sampled.time, row, switched);
  } else {
    SchedulerWaking woken;
    if (!decode_waking(*scheduling.format, sample_.raw, woken)) return;
    const std::uint32_t waker = thread_of(*scheduling.format, sample_.raw);
    scheduling_.add_waking(sampled.time, row, waker, is_in_interrupt(*scheduling.format, sample_.raw),
                           scheduling.kind, woken);
  }
}

void Session::handle_switch(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const std::uint64_t time = time_of(header, body);
  const std::size_t at =
      events_.empty() ? kNowhere : thread_position_from_end(events_.front().attr.sample_type);
  if (time == 0 || time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
      at == kNowhere || at > body.left()) {
    switches_.add(offset);
    return;
  }
  body.seek(body.position() + body.left() - at);
  const std::uint32_t pid = body.u32(), tid = body.u32();
  if (tid == 0 || pid == std::numeric_limits<std::uint32_t>::max()) return;
  thread(pid, tid);
  scheduling_.add_record(static_cast<std::int64_t>(time), tid, (header.misc & kMiscSwitchOut) != 0,
                         (header.misc & kMiscSwitchPreempted) != 0);
}

WaitTask Session::wait_task(std::uint32_t tid, std::string_view name) {
  const auto [at, is_new] = threads_.try_emplace(tid, Thread{kNone, kNone, {}, {}});
  Thread& known = at->second;
  if (known.comm == kNone && !name.empty() && !known.id.valid()) known.comm = comm_row(repair_utf8(name));
  name_thread(known, tid);
  return {known.id, known.root};
}

}  // namespace profd::perf_data
