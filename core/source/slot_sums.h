// Sums over a profile by slots: what is on the frames that somebody has put into one, for every metric. A
// slot is a source line, an instruction, a piece of code.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// total of a slot: stacks that pass through it, each once; self: stacks whose leaf is in it. Of a source
// without stacks: self, and what it states of the calls made there.
struct SlotSums {
  std::vector<std::vector<Value>> self, total;  // [metric][slot]
  std::vector<std::uint8_t> estimated;          // [metric] 1: totals are sums over an estimated tree
};

// By frame: its slot, below `n_slots`, or kNone. Of what the filters of the selection leave: nothing is on a
// frame that is hidden (its self is on the slot of who called it) or part of a group. The metrics are swept
// beside each other on the executor. Fails with `cancelled` alone.
Result<SlotSums> sum_slots(const Selection& selection, std::vector<std::uint32_t> slot_of_frame,
                           std::size_t n_slots, StopToken& stop, Executor& executor);

}  // namespace profd
