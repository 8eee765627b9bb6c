// Loose profiles: contexts in any order, built like those of a foreign format.
#pragma once

#include "formats/profd/decode.h"

namespace profd::profd_format {

// `profile` was validated. Counts texts that were not UTF-8 into n_repaired.
Result<ProfileBuilder> build_loose(const DecodedProfile& profile, StopToken stop, std::uint64_t& n_repaired);

}  // namespace profd::profd_format
