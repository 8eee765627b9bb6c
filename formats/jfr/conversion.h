// A recording as profiles: one for each family of events that it holds.
#pragma once

#include <vector>

#include "formats/jfr/recording.h"
#include "formats/reader.h"

namespace profd::jfr {

Result<void> convert(const Recording& recording, ReadContext& context, std::vector<ProfileBuilder>& profiles);

}  // namespace profd::jfr
