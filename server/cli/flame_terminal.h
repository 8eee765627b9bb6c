// A flame graph as terminal text: a row of boxes a line.
#pragma once

#include <string>

#include "core/layout/flame.h"
#include "server/cli/profile_options.h"
#include "server/feature/box_colors.h"
#include "server/feature/box_sets.h"
#include "server/feature/flame_colors.h"

namespace profd {

struct FlameTextOptions {
  FlameScheme scheme = FlameScheme::module;
  std::uint32_t max_rows = kNone;
  bool inverted = false;              // the root at the bottom
  const BoxColors* colors = nullptr;  // by a metric, which boxes say in place of their share
  const BoxWork* work = nullptr;      // by kind of work
};

// `layout` was made for a viewport of as many pixels as the terminal has columns.
std::string flame_text(const Terminal& terminal, const OpenView& view, const FlameLayout& layout,
                       const FlameTextOptions& options);

}  // namespace profd
