// A flame graph as terminal text: a row of boxes a line, root on top.
#pragma once

#include <string>

#include "core/layout/flame.h"
#include "server/cli/profile_options.h"
#include "server/feature/flame_colors.h"

namespace profd {

// `layout` was made for a viewport of as many pixels as the terminal has columns. At most `max_rows` rows.
std::string flame_text(const Terminal& terminal, const OpenView& view, const FlameLayout& layout,
                       FlameScheme scheme, std::uint32_t max_rows);

}  // namespace profd
