// Opening files of somebody's folders and no others.
#pragma once

#include <string>
#include <vector>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

// A regular file for reading, which lies in one of the folders once every link is followed, of the folders'
// and of its own path. `not_found` for any other, whether or not it is there; `io` where it cannot be read.
Result<UniqueFd> open_below(const std::vector<std::string>& folders, const std::string& path);

}  // namespace profd
