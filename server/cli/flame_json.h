// A layout as the answer of view/flameGraph (docs/protocol.md), written straight into a buffer.
#pragma once

#include <string>

#include "core/layout/flame.h"
#include "server/cli/profile_options.h"

namespace profd {

std::string flame_json(const std::string& file, const OpenView& view, const FlameLayout& layout);

}  // namespace profd
