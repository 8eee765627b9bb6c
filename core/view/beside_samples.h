// Threads and label sets that the timeline alone names: markers have fields, and threads that nobody sampled.
// Lists and filters of samples do not know them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace profd {

// By id: 1 where the timeline names it and no sample does. Empty when there is none such.
std::vector<std::uint8_t> threads_beside_samples(const Profile& profile);
std::vector<std::uint8_t> label_sets_beside_samples(const Profile& profile);

}  // namespace profd
