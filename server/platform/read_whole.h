// A file that is open, as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Fails with `io`, `cancelled`, and `limit` beyond `most` bytes, which says "PATH TOO_LARGE".
Result<std::string> read_whole(int fd, const std::string& path, std::size_t most, std::string_view too_large,
                               const StopToken& stop);

}  // namespace profd
