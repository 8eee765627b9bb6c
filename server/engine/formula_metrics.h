// Metrics by formula of an open profile.
#pragma once

#include <memory>
#include <vector>

#include "server/engine/open_profile.h"

namespace profd {

// Gives it these and no others. Those that add up become metrics of its profile, at a look at each of its
// values; its default metric stays, where that is none of those that went.
void set_formulas(OpenProfile& open, const std::vector<DerivedMetric>& metrics);

// What it has, in order.
std::vector<DerivedMetric> formulas_of(const OpenProfile& open);

}  // namespace profd
