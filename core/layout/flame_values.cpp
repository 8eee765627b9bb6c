#include "core/layout/flame_values.h"

#include "core/view/values.h"

namespace profd {

Result<std::vector<Value>> values_of_boxes(const Selection& other, const LayoutRequest& request,
                                           const FlameLayout& layout, StopToken stop) {
  PROFD_TRY(BoxValues values,
            values_of_boxes(other, request.shape, request.focus, {layout.parent, layout.key, layout.divided},
                            BoxValuesWanted::totals, std::move(stop)));
  return std::move(values.total);
}

}  // namespace profd
