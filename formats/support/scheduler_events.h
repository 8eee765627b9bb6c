// SchedulerEvents: what a reader meets of a scheduler, collected until the profile is made; then states of
// threads and chains (core/waits), or in the report the sentence that says why there are none.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/waits/wait_metrics.h"
#include "formats/reader.h"

namespace profd {

// The fields of sched_switch and sched_waking that say something here.
struct SchedulerSwitch {
  std::uint32_t prev_tid = 0, next_tid = 0;
  SchedulerEventKind out = SchedulerEventKind::switch_out_blocked;
  std::string_view next_name = {};
};
struct SchedulerWaking {
  std::uint32_t tid = 0;
  std::string_view name = {};
};

// "sched:sched_switch"; the others are its wakings: one is in the stack of the waker, the other two may be.
enum class SchedulerTracepoint : std::uint8_t { none, switches, waking, wakeup };
SchedulerTracepoint scheduler_tracepoint(std::string_view event);

// As `perf script` prints them: "prev_comm=a prev_pid=1 … ==> next_comm=…" and "a:1 [120] S ==> b:2 [120]".
bool parse_scheduler_switch(std::string_view text, SchedulerSwitch& out);
bool parse_scheduler_waking(std::string_view text, SchedulerWaking& out);
// The state in which a thread left its processor, as a number and as letters: "S", "R+", "D|K".
SchedulerEventKind left_in_state(std::uint64_t state);
SchedulerEventKind left_in_state(std::string_view letters);
// A function that is entered where the kernel is interrupted.
bool is_interrupt_entry(std::string_view function);

class SchedulerEvents {
 public:
  // `row`: of the reader, whose stack it has; times in nanoseconds. `waker_tid`: kNone where nobody knows.
  void add_switch(std::int64_t time, std::uint32_t row, const SchedulerSwitch& event);
  void add_waking(std::int64_t time, std::uint32_t row, std::uint32_t waker_tid, bool in_interrupt,
                  SchedulerTracepoint kind, const SchedulerWaking& event);
  void add_sample(std::int64_t time, std::uint32_t row, std::uint32_t tid);
  // Records of context switches, which have no stack.
  void add_record(std::int64_t time, std::uint32_t tid, bool out, bool preempted);
  // An event of the scheduler that stands for several: not all of them were recorded.
  void add_sampled() { ++n_sampled_; }

  [[nodiscard]] bool empty() const { return n_switches_ + n_sampled_ == 0 && records_.empty(); }

  // Whether states can be made; otherwise says in the report why. Call once, before what is below.
  // `cells`: values that the builder has room for, of `n_metrics` metrics besides those of states.
  Result<bool> prepare(std::size_t n_metrics, std::uint64_t cells, ImportReport& report);
  // Before the first value of the builder, behind the metrics of events: those of states. The default is the
  // first of an event that is not the scheduler's, or wall time.
  static void declare(ProfileBuilder& builder, std::span<const std::string> events);
  // `context`: of a row. `task`: of a tid and the name that an event had for it, where the reader may know
  // none.
  Result<void> write(ProfileBuilder& builder, std::int64_t first_time,
                     const std::function<ContextId(std::uint32_t)>& context,
                     const std::function<WaitTask(std::uint32_t, std::string_view)>& task,
                     ImportReport& report, StopToken stop);

 private:
  std::uint32_t task_of(std::uint32_t tid, std::string_view name);
  void add(std::int64_t time, std::uint32_t tid, std::string_view name, SchedulerEventKind kind,
           std::uint32_t row = kNone);

  std::vector<SchedulerEvent> events_, records_;
  std::unordered_map<std::uint32_t, std::uint32_t> task_of_tid_;
  std::vector<std::uint32_t> tids_;
  std::vector<std::string> names_;
  ChainLimits limits_;
  std::uint64_t n_switches_ = 0, n_wakings_ = 0, n_wakeups_ = 0, n_sampled_ = 0;
};

}  // namespace profd
