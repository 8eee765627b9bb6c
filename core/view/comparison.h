// Comparison: two selections, before and after, in boxes of one key space, so that a path means the same
// place in both. Each side keeps its own filters, rows and sums exactly; nothing is merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/view/joint_keys.h"
#include "core/view/selection.h"

namespace profd {

enum class Side : std::uint8_t { before, after };
inline constexpr std::array<Side, 2> kSides{Side::before, Side::after};
constexpr std::size_t index_of(Side side) {
  return static_cast<std::size_t>(side);
}

struct Comparison {
  std::array<SelectionPtr, 2> sides;  // by index_of(); with the keys of `joint`
  JointKeys joint;

  [[nodiscard]] const Selection& side(Side of) const { return *sides[index_of(of)]; }
};
using ComparisonPtr = std::shared_ptr<const Comparison>;

// Fails with `invalid` when the two are of different granularity.
Result<ComparisonPtr> compare(const SelectionPtr& before, const SelectionPtr& after, const StopToken& stop);

}  // namespace profd
