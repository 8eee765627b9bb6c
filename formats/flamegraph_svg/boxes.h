// The boxes of a flame graph as they are drawn, and the tree they stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"

namespace profd::flamegraph_svg {

struct Box {
  double x = 0, width = 0, y = 0;
  double value = 0, delta_percent = 0;
  FrameId frame;
  bool has_count = true;
  bool is_all = false;  // the box of the whole graph
  std::uint64_t offset = 0;
};

struct Drawing {
  std::vector<Box> boxes;
  std::optional<bool> inverted;  // what the page's script says: the root is on top
  bool exact_places = false;     // x and width are counts, not pixels
  bool fractional = false;
  bool differential = false;
  std::string unit;
};

// Adds metrics and values. Sorts the boxes.
Result<void> add_tree(Drawing& drawing, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::flamegraph_svg
