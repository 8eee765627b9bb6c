// The hot path: where most of a box goes, level by level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/view/table.h"

namespace profd {

enum class HotPathEnd : std::uint8_t {
  leaf,    // nothing is below
  spread,  // no child has half of its parent
  limit,
};

// Boxes, each the heaviest child of the one before, of those that weigh the same the first of tree_level();
// values are as there.
struct HotPath {
  Value from_total;  // of the box that it begins at
  Estimate from_estimate = kExact;
  std::vector<Key> key;
  std::vector<Value> self, total;
  std::vector<Estimate> estimate;
  std::vector<std::uint8_t> has_children;
  HotPathEnd end = HotPathEnd::leaf;
};

struct HotPathRequest {
  Shape shape = Shape::top_down;
  std::vector<Key> focus;
  std::vector<Key> from;    // from the view's root
  std::size_t limit = 100;  // levels
};
// Down from a box as long as a child has at least half of its parent. From the root the first step is taken
// whatever its part: of a flat profile, too, somebody wants to see where it begins. Fails as tree_level()
// does.
Result<HotPath> hot_path(const Selection& selection, const HotPathRequest& request, StopToken stop);

}  // namespace profd
