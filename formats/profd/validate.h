// What must hold before decoded columns become a Profile: every id in range, offsets and trees well formed,
// texts UTF-8, totals true. Tight passes over blocks of rows, side by side.
#pragma once

#include "core/support/executor.h"
#include "core/support/stop.h"
#include "formats/profd/decode.h"

namespace profd::profd_format {

// Loose profiles: contexts parents first, ids in range; texts may be anything (the builder repairs them).
Result<void> validate(const DecodedProfile& profile, Executor& executor, const StopToken& stop);

}  // namespace profd::profd_format
