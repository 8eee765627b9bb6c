// The states of threads as metrics of a profile that is being made. `wall` is a tree of everything that
// threads did: stacks of processor time as sampled, and stacks of threads off the processor, which end in
// what they were: `(blocked)`, `(runnable)`. Its parts are metrics of their own: on-cpu + blocked + runnable
// + unknown = wall, in every context, of every thread. `chains` has all that is blocked once more, in stacks
// that go on into what the blocked thread waited for: `--`, then the stack of who woke it, and so on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "core/model/profile_builder.h"
#include "core/waits/chains.h"

namespace profd {

namespace wait_metric {
inline constexpr std::string_view wall = "wall", on_cpu = "on-cpu", blocked = "blocked",
                                  runnable = "runnable", unknown = "unknown", chains = "chains";
}

inline constexpr std::size_t kNWaitMetrics = 6;

// Between a blocked stack and that of its waker.
inline constexpr std::string_view kWakerMark = "--";

struct WaitTask {
  ThreadId thread;
  ContextId root{0u};  // what it has without a stack
};

// After the other metrics of the builder and before its first value.
void declare_wait_metrics(ProfileBuilder& builder);

struct WaitRows {
  std::uint64_t not_followed = 0;  // spans that were blocked and whose chain was not followed
  std::uint64_t shortened = 0;     // stacks of wakers of which chains have the outermost frame only
};

// Adds samples, whose times are those of the events less `first_time`. Stacks of the events are contexts of
// the builder. Fails with `cancelled` only.
Result<WaitRows> add_wait_samples(ProfileBuilder& builder, const TaskStates& states,
                                  std::span<const WaitTask> tasks, std::int64_t first_time,
                                  const ChainLimits& limits, StopToken stop);

}  // namespace profd
