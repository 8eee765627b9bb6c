#include "formats/support/scheduler_events.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace profd {
namespace {

// Bits of prev_state: a thread that is dead or about to be.
constexpr std::uint64_t kExited = 0x30, kAnyState = 0xff;

bool number_at(std::string_view text, std::size_t at, std::uint32_t& out) {
  if (at >= text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), out);
  return error == std::errc{} && end != text.data() + at;
}

std::string_view between(std::string_view text, std::size_t from, std::size_t to) {
  return from <= to && to <= text.size() ? text.substr(from, to - from) : std::string_view{};
}

// "name:12 [120] …", as perf's own printing of scheduler events has it. Where the number ends.
bool name_and_tid(std::string_view text, std::string_view& name, std::uint32_t& tid, std::size_t& end) {
  const std::size_t open = text.find(" [");
  if (open == std::string_view::npos) return false;
  const std::size_t colon = text.rfind(':', open);
  if (colon == std::string_view::npos || !number_at(text, colon + 1, tid)) return false;
  name = text.substr(0, colon);
  end = open;
  return true;
}

}  // namespace

SchedulerTracepoint scheduler_tracepoint(std::string_view event) {
  constexpr std::string_view kSystem = "sched:";
  if (!event.starts_with(kSystem)) return SchedulerTracepoint::none;
  event.remove_prefix(kSystem.size());
  event = event.substr(0, event.find_first_of(":/"));
  if (event == "sched_switch") return SchedulerTracepoint::switches;
  if (event == "sched_waking") return SchedulerTracepoint::waking;
  if (event == "sched_wakeup" || event == "sched_wakeup_new") return SchedulerTracepoint::wakeup;
  return SchedulerTracepoint::none;
}

bool parse_scheduler_switch(std::string_view text, SchedulerSwitch& out) {
  constexpr std::string_view kArrow = " ==> ", kPrevPid = " prev_pid=", kState = " prev_state=",
                             kNextComm = "next_comm=", kNextPid = " next_pid=";
  const std::size_t arrow = text.rfind(kArrow);
  if (arrow == std::string_view::npos) return false;
  const std::string_view left = text.substr(0, arrow), right = text.substr(arrow + kArrow.size());
  const std::size_t pid = left.rfind(kPrevPid), state = left.rfind(kState);
  if (pid != std::string_view::npos && state != std::string_view::npos) {
    const std::size_t next = right.rfind(kNextPid);
    if (next == std::string_view::npos || !right.starts_with(kNextComm)) return false;
    out.out = left_in_state(left.substr(state + kState.size()));
    out.next_name = between(right, kNextComm.size(), next);
    return number_at(left, pid + kPrevPid.size(), out.prev_tid) &&
           number_at(right, next + kNextPid.size(), out.next_tid);
  }
  std::string_view prev_name;
  std::size_t end = 0;
  if (!name_and_tid(left, prev_name, out.prev_tid, end)) return false;
  const std::size_t blank = left.rfind(' ');
  out.out = left_in_state(left.substr(blank + 1));
  return name_and_tid(right, out.next_name, out.next_tid, end);
}

bool parse_scheduler_waking(std::string_view text, SchedulerWaking& out) {
  constexpr std::string_view kComm = "comm=", kPid = " pid=";
  if (text.starts_with(kComm)) {
    const std::size_t pid = text.rfind(kPid);
    if (pid == std::string_view::npos) return false;
    out.name = between(text, kComm.size(), pid);
    return number_at(text, pid + kPid.size(), out.tid);
  }
  std::size_t end = 0;
  return name_and_tid(text, out.name, out.tid, end);
}

SchedulerEventKind left_in_state(std::uint64_t state) {
  if ((state & kAnyState) == 0) return SchedulerEventKind::switch_out_runnable;
  return (state & kExited) != 0 ? SchedulerEventKind::switch_out_exited
                                : SchedulerEventKind::switch_out_blocked;
}

SchedulerEventKind left_in_state(std::string_view letters) {
  if (letters.starts_with('R')) return SchedulerEventKind::switch_out_runnable;
  return letters.find_first_of("XZx") != std::string_view::npos ? SchedulerEventKind::switch_out_exited
                                                                : SchedulerEventKind::switch_out_blocked;
}

bool is_interrupt_entry(std::string_view function) {
  constexpr std::array<std::string_view, 13> kNames{"common_interrupt",
                                                    "irq_exit_rcu",
                                                    "__irq_exit_rcu",
                                                    "irq_exit",
                                                    "do_softirq",
                                                    "__do_softirq",
                                                    "handle_softirqs",
                                                    "hrtimer_interrupt",
                                                    "gic_handle_irq",
                                                    "el1_irq",
                                                    "el1_interrupt",
                                                    "el0_interrupt",
                                                    "do_irq"};
  constexpr std::array<std::string_view, 5> kBeginnings{"asm_sysvec_", "sysvec_", "asm_common_interrupt",
                                                        "__do_softirq", "call_on_irq_stack"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return name == function; }) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view begin) { return function.starts_with(begin); });
}

std::uint32_t SchedulerEvents::task_of(std::uint32_t tid, std::string_view name) {
  const auto [at, is_new] = task_of_tid_.try_emplace(tid, static_cast<std::uint32_t>(tids_.size()));
  if (is_new) {
    tids_.push_back(tid);
    names_.emplace_back();
  }
  std::string& known = names_[at->second];
  if (known.empty() && !name.empty()) known = name;
  return at->second;
}

// Thread 0 is one of every processor, which does nothing.
void SchedulerEvents::add(std::int64_t time, std::uint32_t tid, std::string_view name,
                          SchedulerEventKind kind, std::uint32_t row) {
  if (tid == 0) return;
  events_.push_back({.time = time, .task = task_of(tid, name), .stack = row, .kind = kind});
}

void SchedulerEvents::add_switch(std::int64_t time, std::uint32_t row, const SchedulerSwitch& event) {
  ++n_switches_;
  add(time, event.prev_tid, {}, event.out, row);
  add(time, event.next_tid, event.next_name, SchedulerEventKind::switch_in);
}

void SchedulerEvents::add_waking(std::int64_t time, std::uint32_t row, std::uint32_t waker_tid,
                                 bool in_interrupt, SchedulerTracepoint kind, const SchedulerWaking& event) {
  ++(kind == SchedulerTracepoint::waking ? n_wakings_ : n_wakeups_);
  in_interrupt = in_interrupt || waker_tid == 0;
  const bool known = !in_interrupt && waker_tid != kNone;
  if (known) add(time, waker_tid, {}, SchedulerEventKind::seen);
  if (event.tid == 0) return;
  SchedulerEvent waking{.time = time,
                        .task = task_of(event.tid, event.name),
                        .stack = row,
                        .kind = SchedulerEventKind::waking,
                        .in_interrupt = in_interrupt};
  if (known) waking.waker = task_of(waker_tid, {});
  events_.push_back(waking);
}

void SchedulerEvents::add_sample(std::int64_t time, std::uint32_t row, std::uint32_t tid) {
  add(time, tid, {}, SchedulerEventKind::sample, row);
}

void SchedulerEvents::add_record(std::int64_t time, std::uint32_t tid, bool out, bool preempted) {
  if (tid == 0) return;
  const SchedulerEventKind kind = !out        ? SchedulerEventKind::switch_in
                                  : preempted ? SchedulerEventKind::switch_out_runnable
                                              : SchedulerEventKind::switch_out_blocked;
  records_.push_back({.time = time, .task = task_of(tid, {}), .kind = kind});
}

Result<bool> SchedulerEvents::prepare(std::size_t n_metrics, std::uint64_t cells, ImportReport& report) {
  if (empty()) return false;
  const auto refuse = [&](std::string_view why) {
    report.add("no-thread-states", Severity::loss, why);
    return false;
  };
  if (n_sampled_ > 0)
    return refuse(
        "states of threads were not made: events of the scheduler were sampled, not all of them recorded; "
        "-F holds for every event, so leave it out and record with -e cpu-clock/freq=999/ "
        "-e sched:sched_switch -e sched:sched_waking");
  const auto n_tasks = static_cast<std::uint32_t>(tids_.size());
  const auto by_time = [](const SchedulerEvent& a, const SchedulerEvent& b) { return a.time < b.time; };
  std::stable_sort(events_.begin(), events_.end(), by_time);
  if (!records_.empty() && (n_switches_ == 0 || !has_switch_ins(events_, n_tasks))) {
    // Of both, the tracepoints tell in which state and with which stack a thread left.
    for (const SchedulerEvent& record : records_)
      if (n_switches_ == 0 || record.kind == SchedulerEventKind::switch_in) events_.push_back(record);
    std::stable_sort(events_.begin(), events_.end(), by_time);
  }
  records_ = {};
  if (!has_switch_ins(events_, n_tasks))
    return refuse(
        "states of threads were not made: the recording has when threads left a processor, and not when they "
        "came back; record the whole system (perf record -a) or with --switch-events");
  // An event ends a span at most.
  const std::uint64_t rows = cells / (n_metrics + kNWaitMetrics);
  if (events_.size() > rows)
    return refuse(
        "states of threads were not made: the recording has more events of the scheduler than is kept");
  limits_.pieces = std::min(limits_.pieces, rows - events_.size());
  if (n_wakings_ + n_wakeups_ == 0)
    report.add("no-wakings", Severity::info,
               "the recording has no wakings: who woke a thread is unknown, and its time in a queue for a "
               "processor counts as blocked; record with -e sched:sched_waking");
  else if (n_wakings_ == 0)
    report.add("wakeups-only", Severity::info,
               "wakers are those of sched_wakeup, which may be whoever the processor ran; record with "
               "-e sched:sched_waking");
  // Both tell of the same, the first earlier.
  return true;
}

void SchedulerEvents::declare(ProfileBuilder& builder, std::span<const std::string> events) {
  const std::size_t wall = builder.n_metrics();
  declare_wait_metrics(builder);
  const auto other = std::find_if(events.begin(), events.end(), [](const std::string& event) {
    return scheduler_tracepoint(event) == SchedulerTracepoint::none;
  });
  builder.set_default_metric(
      MetricId(other == events.end() ? wall : static_cast<std::size_t>(other - events.begin())));
}

Result<void> SchedulerEvents::write(ProfileBuilder& builder, std::int64_t first_time,
                                    const std::function<ContextId(std::uint32_t)>& context,
                                    const std::function<WaitTask(std::uint32_t, std::string_view)>& task,
                                    ImportReport& report, StopToken stop) {
  for (SchedulerEvent& event : events_)
    if (event.stack != kNone) event.stack = context(event.stack).v;
  std::vector<WaitTask> tasks;
  for (std::size_t i = 0; i < tids_.size(); ++i) tasks.push_back(task(tids_[i], names_[i]));
  PROFD_TRY(const TaskStates states, task_states(events_, static_cast<std::uint32_t>(tids_.size()),
                                                 n_wakings_ + n_wakeups_ > 0, stop));
  events_ = {};
  PROFD_TRY(const WaitRows rows, add_wait_samples(builder, states, tasks, first_time, limits_, stop));
  report.add("contradicting-switch", Severity::info,
             "events of the scheduler do not go with those before them, as when some were lost: what the "
             "thread did in between is unknown",
             std::nullopt, states.contradictions);
  report.add("chain-not-followed", Severity::loss,
             "waits were one too many to look for what they waited for; their chains end in (chain not "
             "followed)",
             std::nullopt, rows.not_followed);
  report.add("chain-shortened", Severity::loss,
             "stacks of wakers were cut down to their thread: chains have too many frames", std::nullopt,
             rows.shortened);
  return {};
}

}  // namespace profd
