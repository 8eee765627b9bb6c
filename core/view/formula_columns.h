// Formulas that add up as metrics of a profile: a column of values that is worked out once, so that views are
// as wide as it, and lines, hot spots and exports are of it, as of any metric that was measured.
#pragma once

#include <span>

#include "core/model/profile.h"
#include "core/view/derived_metric.h"

namespace profd {

// Whether a profile can have such columns: one that is put together of others keeps the values of each of
// these, and has none for a formula.
bool takes_formula_columns(const Profile& profile);

// The profile with a metric for each of `measures` that adds up, behind its own, in their order; it shares
// all else. Ids of metrics that it had stay. Integers where all values of a column are whole numbers that a
// double holds exactly. `profile` itself where there is none, or where it takes none. The measures are of it.
ProfilePtr with_formula_columns(const ProfilePtr& profile, std::span<const ProfileMeasure> measures);

}  // namespace profd
