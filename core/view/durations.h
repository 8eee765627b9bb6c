// Durations: which values of samples are times that pass on the clock, so that a window of time can cut them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Nanoseconds in one of a unit as normalize_unit has it; 0: it is none of time.
std::int64_t nanoseconds_in(std::string_view unit);

// By metric: the nanoseconds of one of its unit where its values are durations, else 0. They are where the
// unit is one of time, a value is there, and none of them reaches from the time of its sample into the next
// sample of the same thread that has one: that is how a tracer's calls and samples with time deltas lie,
// and how weights of a sampling timer, which ticks a little early or late, do not. Costs a look at every
// sample up to the first that overlaps. Values that are not above 0 are none.
Result<std::vector<std::int64_t>> duration_metrics(const Profile& profile, StopToken stop);

}  // namespace profd
