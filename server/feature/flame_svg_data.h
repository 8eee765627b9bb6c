// What a flame graph page holds as data beside its boxes, so that it can be opened as a profile again. It
// does not depend on how the page looks. docs/formats/flamegraph-svg.md has the form.
#pragma once

#include <string>

#include "core/layout/flame.h"

namespace profd {

// A <metadata> element; `view` is what the layout is of.
std::string flame_svg_data(const Selection& selection, const FlameLayout& layout, const ViewSpec& view,
                           const std::string& title);

}  // namespace profd
