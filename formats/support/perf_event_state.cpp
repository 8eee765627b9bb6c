#include "formats/support/perf_event_state.h"

#include <algorithm>
#include <array>

namespace profd {

ThreadState perf_event_state(std::string_view event) {
  // Counted by a processor for the thread that runs on it, or by a timer of that thread's time.
  constexpr std::array<std::string_view, 11> kRunning{
      "cycles",   "cpu-cycles",    "instructions", "ref-cycles", "cpu-clock",       "task-clock",
      "branches", "branch-misses", "cache-misses", "bus-cycles", "cache-references"};
  // Counted when a thread leaves its processor, or when it comes back and for how long it was away.
  constexpr std::array<std::string_view, 4> kWaiting{"sched:sched_switch", "context-switches", "cs",
                                                     "offcpu-time"};
  const auto is_one = [](const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one(kWaiting, event)) return ThreadState::waiting;
  // With what it was asked for, "cpu-clock/freq=999/", it comes first, behind a unit otherwise.
  if (is_one(kRunning, event.substr(0, event.find_first_of(":/")))) return ThreadState::running;
  if (const std::size_t slash = event.find('/'); slash != std::string_view::npos)
    event.remove_prefix(slash + 1);
  event = event.substr(0, event.find_first_of(":/"));
  if (is_one(kWaiting, event)) return ThreadState::waiting;
  return is_one(kRunning, event) ? ThreadState::running : ThreadState::unknown;
}

}  // namespace profd
