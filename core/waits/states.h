// States of threads: from the events of a scheduler what every thread did at every moment, who woke it, and
// what it waited for. Knows nothing of files and profiles: threads and stacks are numbers of whoever asks.
//
//   state      from .. to
//   on         switch-in .. switch-out
//   blocked    switch-out of a thread that cannot go on .. its waking
//   runnable   waking .. switch-in; switch-out of a thread that could go on .. switch-in
//   unknown    what contradicts itself, as when events were lost
//
// The spans of a task lie side by side without a hole, from its first event to its exit or to the last event
// of all: what its states come to is its wall time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/support/id.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

enum class SchedulerEventKind : std::uint8_t {
  switch_in,
  switch_out_blocked,
  switch_out_runnable,
  switch_out_exited,
  waking,  // of the task, by another
  sample,  // of its processor time
  seen,    // on a processor, for whatever reason that is known
};

struct SchedulerEvent {
  std::int64_t time = 0;
  std::uint32_t task = 0;
  std::uint32_t stack = kNone;  // of a waking that of the waker, else of the task
  std::uint32_t waker = kNone;  // a task; none where nobody knows
  SchedulerEventKind kind = SchedulerEventKind::seen;
  bool in_interrupt = false;  // a waking by whoever was interrupted: the waker says nothing
};

enum class WaitState : std::uint8_t { on, blocked, runnable, unknown };
inline constexpr std::size_t kNWaitStates = 4;

// How it ended to be blocked.
enum class WaitEnd : std::uint8_t {
  woken,      // by a task
  interrupt,  // by an interrupt: of a timer, of a device
  unknown,    // nobody knows by whom
  open,       // not before the end of the recording
};

struct WaitSpan {
  std::int64_t begin = 0, end = 0;  // end > begin
  std::uint32_t stack = kNone;      // of one on a processor: of its nearest sample, none without a sample
  std::uint32_t waker = kNone;      // of one that was woken
  WaitState state = WaitState::unknown;
  WaitEnd ended = WaitEnd::unknown;  // of one that was blocked
};

struct TaskStates {
  std::vector<WaitSpan> spans;       // by task, then time
  std::vector<std::uint32_t> first;  // by task, and one more
  std::uint64_t contradictions = 0;  // events that do not go with those before them

  [[nodiscard]] std::span<const WaitSpan> of(std::uint32_t task) const {
    return std::span(spans).subspan(first[task], first[task + 1] - first[task]);
  }
};

// `events` by time; those of one time in the order in which they happened. Tasks are below `n_tasks`.
// `wakings`: the recording has them, so that one that is missing was lost. Without them a thread is blocked
// until it is on a processor again, and nobody knows who woke it. Fails with `limit` and `cancelled` only.
Result<TaskStates> task_states(std::span<const SchedulerEvent> events, std::uint32_t n_tasks, bool wakings,
                               StopToken stop);

// Whether the events have what makes states: of threads that left a processor most are seen to come back
// before they leave again.
bool has_switch_ins(std::span<const SchedulerEvent> events, std::uint32_t n_tasks);

}  // namespace profd
