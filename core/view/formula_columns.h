// Formulas that add up as metrics of a profile: a column of values that is worked out once, so that views are
// as wide as it, and lines, hot spots and exports are of it, as of any metric that was measured.
#pragma once

#include <span>

#include "core/model/profile.h"
#include "core/view/derived_metric.h"

namespace profd {

// The profile with a metric for each of `measures` that adds up, behind its own, in their order; it shares
// all else. Ids of metrics that it had stay. Integers where all values of a column are whole numbers that a
// double holds exactly. `profile` itself where there is none, and where it is put together of others: it
// keeps the values of each of these, and has none for a formula. The measures are of it.
ProfilePtr with_formula_columns(const ProfilePtr& profile, std::span<const ProfileMeasure> measures);

}  // namespace profd
