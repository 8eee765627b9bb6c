// Metrics of a profile that somebody worked out by context, a script for one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"

namespace profd {

struct ContextMetric {
  std::string name, unit;
  std::vector<double> self;  // by context, finite
};

// The profile with these metrics behind its own; it shares all else. Integers where all values of one are
// whole numbers that a double holds exactly. Samples have none of their values: these belong to contexts
// alone, and filters by thread, time and label leave them out. `invalid` where one is not as long as the
// profile has contexts, is not finite, or has a name that is taken; `unsupported` for a profile that is put
// together of others, which keeps the values of each of these and has none here.
Result<ProfilePtr> with_context_metrics(const ProfilePtr& profile, std::span<const ContextMetric> metrics);

}  // namespace profd
