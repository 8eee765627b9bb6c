// Cost shift: what one function of a group loses another gains, as when code is moved into a helper. That is
// no regression, though each change alone stands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace profd {

struct SignedChange {
  double change = 0;     // after - before, in the metric's unit
  double deviation = 0;  // of its noise, in the same unit
};

inline constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

struct CostShift {
  std::size_t level = 0;               // of those given: the smallest at which the changes cancel
  std::uint32_t group = 0;             // and the group there
  std::vector<std::uint32_t> members;  // changes, ascending
  double net = 0;                      // their sum
  double gross = 0;                    // and that of their amounts
};

// `changes`: those that stand out or might, not all. `levels`: the group of each change at each level,
// kNoGroup for none, from small (parent, class) to large (file, module). A shift is a group in which
// something rose and something fell, whose sum is within noise (two deviations) and at most a fifth of the
// amounts; a change is in one shift at most. Shifts go by gross, largest first, then by level and group.
// Changes that are not finite, or whose deviation is negative or not finite, are in none. Every level has as
// many groups as there are changes (asserted).
std::vector<CostShift> cost_shifts(std::span<const SignedChange> changes,
                                   std::span<const std::span<const std::uint32_t>> levels);

}  // namespace profd
