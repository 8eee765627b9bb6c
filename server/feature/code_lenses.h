// Which functions of a source file have code that can be shown.
#pragma once

#include <vector>

#include "server/feature/annotate.h"

namespace profd {

// Those of `functions` that were met in a piece of code, at most the first `most` of them. Looks at no
// binary: time is linear in the profile's frames.
std::vector<FunctionCost> functions_with_code(const Profile& profile, std::vector<FunctionCost> functions,
                                              std::size_t most);

}  // namespace profd
