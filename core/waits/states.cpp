#include "core/waits/states.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace profd {
namespace {

// A waking may come just before the switch-out that it ends, of a thread on its way to sleep.
constexpr std::int64_t kWakingBeforeOut = 100'000;  // ns

enum class Doing : std::uint8_t { nothing, on, blocked, runnable };

struct Sampled {
  std::int64_t time = 0;
  std::uint32_t stack = kNone;
};

// What one task does, event by event. Spans that last no time are left out.
class TaskWalk {
 public:
  TaskWalk(std::vector<WaitSpan>& out, bool wakings) : out_(out), wakings_(wakings) {}

  void add(const SchedulerEvent& event) {
    switch (event.kind) {
      case SchedulerEventKind::switch_in:
        come(event.time);
        break;
      case SchedulerEventKind::switch_out_blocked:
      case SchedulerEventKind::switch_out_runnable:
      case SchedulerEventKind::switch_out_exited:
        leave(event);
        break;
      case SchedulerEventKind::waking:
        wake(event);
        break;
      case SchedulerEventKind::sample:
      case SchedulerEventKind::seen:
        see(event);
        break;
    }
  }

  void finish(std::int64_t end) {
    if (doing_ == Doing::on)
      end_on(end);
    else if (doing_ == Doing::blocked)
      push({since_, end, stack_, kNone, WaitState::blocked, WaitEnd::open});
    else if (doing_ == Doing::runnable)
      push({since_, end, stack_, kNone, WaitState::runnable, WaitEnd::unknown});
    doing_ = Doing::nothing;
  }

  [[nodiscard]] std::uint64_t contradictions() const { return contradictions_; }

 private:
  void push(const WaitSpan& span) {
    if (span.end > span.begin) out_.push_back(span);
  }
  void push_unknown(std::int64_t begin, std::int64_t end) {
    ++contradictions_;
    push({begin, end, kNone, kNone, WaitState::unknown, WaitEnd::unknown});
  }
  void start(Doing doing, std::int64_t time) {
    doing_ = doing;
    since_ = sure_ = time;
    samples_.clear();
    woken_before_ = false;
  }

  void come(std::int64_t time) {
    if (doing_ == Doing::on) {
      end_on(sure_);
      push_unknown(sure_, time);
    } else if (doing_ == Doing::runnable) {
      push({since_, time, stack_, kNone, WaitState::runnable, WaitEnd::unknown});
    } else if (doing_ == Doing::blocked) {
      if (left_woken_)
        push({since_, time, stack_, kNone, WaitState::runnable, WaitEnd::unknown});
      else if (!wakings_)
        push({since_, time, stack_, kNone, WaitState::blocked, WaitEnd::unknown});
      else
        push_unknown(since_, time);
    }
    start(Doing::on, time);
  }

  void leave(const SchedulerEvent& event) {
    const bool woken = doing_ == Doing::on && woken_before_ && event.time - woken_at_ <= kWakingBeforeOut;
    if (doing_ == Doing::on)
      end_on(event.time);
    else if (doing_ != Doing::nothing)
      push_unknown(since_, event.time);
    if (event.kind == SchedulerEventKind::switch_out_exited) {
      doing_ = Doing::nothing;
      return;
    }
    start(event.kind == SchedulerEventKind::switch_out_blocked ? Doing::blocked : Doing::runnable,
          event.time);
    left_woken_ = woken;
    stack_ = event.stack;
  }

  void wake(const SchedulerEvent& event) {
    if (doing_ == Doing::on) {
      woken_before_ = true;
      woken_at_ = event.time;
    } else if (doing_ == Doing::blocked) {
      const WaitEnd ended = event.in_interrupt     ? WaitEnd::interrupt
                            : event.waker == kNone ? WaitEnd::unknown
                                                   : WaitEnd::woken;
      push({since_, event.time, stack_, ended == WaitEnd::woken ? event.waker : kNone, WaitState::blocked,
            ended});
      start(Doing::runnable, event.time);
    } else if (doing_ == Doing::nothing) {
      start(Doing::runnable, event.time);
      stack_ = kNone;
    }
  }

  void see(const SchedulerEvent& event) {
    if (doing_ == Doing::blocked || doing_ == Doing::runnable) push_unknown(since_, event.time);
    if (doing_ != Doing::on) start(Doing::on, event.time);
    sure_ = event.time;
    if (event.kind == SchedulerEventKind::sample) samples_.push_back({event.time, event.stack});
  }

  // Every moment has the stack of the sample that is nearest to it.
  void end_on(std::int64_t end) {
    if (samples_.empty()) {
      push({since_, end, kNone, kNone, WaitState::on, WaitEnd::unknown});
      return;
    }
    std::int64_t begin = since_;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const bool last = i + 1 == samples_.size();
      const std::int64_t until =
          last ? end : std::clamp(std::midpoint(samples_[i].time, samples_[i + 1].time), begin, end);
      push({begin, until, samples_[i].stack, kNone, WaitState::on, WaitEnd::unknown});
      begin = until;
    }
  }

  std::vector<WaitSpan>& out_;
  bool wakings_;
  Doing doing_ = Doing::nothing;
  std::int64_t since_ = 0, sure_ = 0;  // sure_: the last moment that it was seen on a processor
  std::uint32_t stack_ = kNone;        // that it was blocked or preempted with
  std::vector<Sampled> samples_;       // since it came on its processor
  bool woken_before_ = false, left_woken_ = false;
  std::int64_t woken_at_ = 0;
  std::uint64_t contradictions_ = 0;
};

// Rows of `events` by task, each in order of time.
std::vector<std::uint32_t> rows_by_task(std::span<const SchedulerEvent> events, std::uint32_t n_tasks,
                                        std::vector<std::uint32_t>& first) {
  first.assign(n_tasks + 1, 0);
  for (const SchedulerEvent& event : events) ++first[event.task + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> rows(events.size()), next(first.begin(), first.end() - 1);
  for (std::uint32_t i = 0; i < events.size(); ++i) rows[next[events[i].task]++] = i;
  return rows;
}

bool is_out(SchedulerEventKind kind) {
  return kind == SchedulerEventKind::switch_out_blocked || kind == SchedulerEventKind::switch_out_runnable ||
         kind == SchedulerEventKind::switch_out_exited;
}

}  // namespace

Result<TaskStates> task_states(std::span<const SchedulerEvent> events, std::uint32_t n_tasks, bool wakings,
                               StopToken stop) {
  if (events.size() >= kNone / 4) return fail(ErrorCode::limit, "there are too many events of the scheduler");
  assert(std::is_sorted(events.begin(), events.end(),
                        [](const SchedulerEvent& a, const SchedulerEvent& b) { return a.time < b.time; }));
  TaskStates out;
  std::vector<std::uint32_t> first;
  const std::vector<std::uint32_t> rows = rows_by_task(events, n_tasks, first);
  const std::int64_t end = events.empty() ? 0 : events.back().time;
  out.first.reserve(n_tasks + 1);
  for (std::uint32_t task = 0; task < n_tasks; ++task) {
    out.first.push_back(static_cast<std::uint32_t>(out.spans.size()));
    TaskWalk walk(out.spans, wakings);
    for (std::uint32_t i = first[task]; i < first[task + 1]; ++i) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      walk.add(events[rows[i]]);
    }
    walk.finish(end);
    out.contradictions += walk.contradictions();
  }
  out.first.push_back(static_cast<std::uint32_t>(out.spans.size()));
  return out;
}

bool has_switch_ins(std::span<const SchedulerEvent> events, std::uint32_t n_tasks) {
  std::vector<std::uint8_t> is_off(n_tasks, 0);
  std::uint64_t n_outs = 0, n_without = 0;
  for (const SchedulerEvent& event : events) {
    if (event.kind == SchedulerEventKind::switch_in) {
      is_off[event.task] = 0;
    } else if (is_out(event.kind)) {
      ++n_outs;
      n_without += is_off[event.task];
      is_off[event.task] = event.kind == SchedulerEventKind::switch_out_exited ? 0 : 1;
    }
  }
  return n_outs > 0 && n_without * 2 <= n_outs;
}

}  // namespace profd
