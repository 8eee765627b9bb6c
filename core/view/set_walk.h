// What the sets of frames say of a stack, frame by frame from its root.
#pragma once

#include <bit>
#include <cstdint>

#include "core/view/frame_sets.h"

namespace profd {

struct SetState {
  SetMask through = 0;                 // a frame so far is in the set
  SetMask own = 0;                     // the stack, if it ended here, were the set's own work
  SetMask called = 0;                  // a frame so far is neither in the set nor a helper
  std::int8_t kind = -1, behind = -1;  // of the innermost frame with a kind, and with one in the background

  // The kind of a stack that ends here; -1 none.
  [[nodiscard]] int kind_of_work() const { return kind >= 0 ? kind : behind; }
};

// The first of the sets of a mask that are among `of`; -1 none.
inline std::int8_t first_set(SetMask mask, SetMask of) {
  mask &= of;
  return mask == 0 ? std::int8_t{-1} : static_cast<std::int8_t>(std::countr_zero(mask));
}

// One frame further down.
inline SetState step(const SetState& above, SetMask frame, const SetRules& rules) {
  SetState at = above;
  const bool helps = (frame & rules.helpers) != 0;
  at.through |= frame;
  if (!helps || (frame & rules.idle) != 0) at.own = 0;
  at.own |= frame & (above.called | ~rules.called);
  if (!helps) at.called |= ~frame;
  if (const std::int8_t kind = first_set(frame, rules.kinds & ~rules.background); kind >= 0) at.kind = kind;
  if (const std::int8_t behind = first_set(frame, rules.background); behind >= 0) at.behind = behind;
  return at;
}

}  // namespace profd
