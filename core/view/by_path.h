// Metrics of a diff that are no sum over parts (MetricRole::larger and ::difference): of a box they are that
// function of what both sides have there, whatever contexts the box is made of. Recursion of another depth is
// no difference once it is collapsed.
#pragma once

#include <optional>

#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/boxes.h"
#include "core/view/path_classes.h"
#include "core/view/rows.h"

namespace profd {

// The metrics of both sides that a metric of a diff comes from.
struct SideMetrics {
  MetricId before, after;
};
// Nothing where the profile is no diff.
std::optional<SideMetrics> sides_of(const Profile& profile, MetricId metric);

// Whether the metric is one of those.
bool is_by_path(const Profile& profile, MetricId metric);

// The rows of these boxes in that metric: a path's value is on its first context. Of other metrics nothing is
// known there; they are 0. A box's self is then the function of both sides at its path, its total the sum
// over what is below.
Result<RowsPtr> rows_by_path(const Rows& rows, const Boxes& boxes, MetricId metric, StopToken stop);

// The values of such metrics by path of functions, each on the first row that is of its path, and their
// totals: a view by function of all there is needs no more evaluation (Profile::functions_by_path). As
// composed they are those by context, of which one path of two builds has several. `data` is a diff's,
// `classes` of its contexts by the keys that its views by function have.
Result<void> take_values_by_path(ProfileData& data, const PathClasses& classes, Executor& executor,
                                 const StopToken& stop);

}  // namespace profd
