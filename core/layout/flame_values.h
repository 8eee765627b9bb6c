// Values of another metric for the boxes of a layout: what colours them.
#pragma once

#include <vector>

#include "core/layout/flame.h"

namespace profd {

// By box of `layout`, which was made of a selection with the same filters and granularity: the total of
// `other` at the same path. Remainder boxes get 0: ask for what they hold by zooming.
Result<std::vector<Value>> values_of_boxes(const Selection& other, const LayoutRequest& request,
                                           const FlameLayout& layout, StopToken stop);

}  // namespace profd
