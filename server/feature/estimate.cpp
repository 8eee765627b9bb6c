#include "server/feature/estimate.h"

#include <algorithm>

namespace profd {

std::string estimate_text(const Selection& selection) {
  if (!selection.estimated) return "";
  return selection.stated
             ? "the file has calls, not stacks: paths are an estimate, self values and what the file says of "
               "functions and calls are exact"
             : "the file has calls, not stacks: paths and totals of this view are estimates, self values are "
               "exact";
}

std::string estimate_text(const Selection& selection, const FlatView& rows) {
  const bool any = std::any_of(rows.estimate.begin(), rows.estimate.end(),
                               [](Estimate estimate) { return estimate != kExact; });
  return any ? estimate_text(selection) : "";
}

}  // namespace profd
