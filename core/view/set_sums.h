// How much of a view belongs to sets of frames: one pass over the contexts, after which every question about
// sets, their unions and intersections is a sum over a few classes of stacks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/view/filters.h"
#include "core/view/frame_sets.h"
#include "core/view/selection.h"

namespace profd {

// The stacks that are alike to the sets.
struct StackClass {
  SetMask through = 0, own = 0;
  int kind = -1;  // the set by which they are coloured; -1 none
  Value sum;      // of their selfs
};

// Runs of frames beside sets of frames: whatever lies in the ranges is through the set.
struct RunsOfSet {
  std::size_t set = 0;
  ContextRanges ranges;
};

// `of_frame`: by FrameId. Hidden frames are in no set. The classes come to the selection's total, in an order
// that depends on the selection alone. Not for selections that are divided, which have no stacks.
Result<std::vector<StackClass>> stack_classes(const Selection& selection,
                                              const std::vector<SetMask>& of_frame, const SetRules& rules,
                                              std::span<const RunsOfSet> runs, StopToken stop);

// What the classes that are wanted come to.
Value sum_of_classes(const Selection& selection, std::span<const StackClass> classes,
                     const std::function<bool(const StackClass&)>& wanted);

// Of the own work of a set, what comes from each key: the nearest frame above it that is neither of the set
// nor a helper. Largest first, those without such a frame left out.
struct KeyAmount {
  Key key = 0;
  Value amount;
};
Result<std::vector<KeyAmount>> callers_of_work(const Selection& selection,
                                               const std::vector<SetMask>& of_frame, const SetRules& rules,
                                               std::size_t set, StopToken stop);

// The contexts whose stacks end in own work. `codes`: WorkCode by FrameId.
Result<ContextRanges> contexts_at_work(const ContextTree& tree, const std::vector<std::uint8_t>& codes,
                                       StopToken& stop);

// By key: the sets that all its frames are in.
std::vector<SetMask> masks_of_keys(const KeyTable& keys, const std::vector<SetMask>& of_frame);

}  // namespace profd
