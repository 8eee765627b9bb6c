// Which profile of a file is meant.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"

namespace profd {

// `wanted`: a number from 1, or the name the file gives it; "" is the first. An index into `profiles`, which
// has one at least. Fails with `invalid` where there is none such, or several of that name.
Result<std::size_t> pick_profile(const std::vector<ProfilePtr>& profiles, const std::string& wanted);

}  // namespace profd
