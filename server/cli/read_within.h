// Reading for a command, within a part of the machine's memory.
#pragma once

#include <cstdint>
#include <functional>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/platform/memory.h"

namespace profd {

// Does the work; what asks for more than `bytes` ends it with an error `limit`. `work` looks at its token.
Result<void> read_within(std::uint64_t bytes, const std::function<Result<void>(const StopToken& stop)>& work);

}  // namespace profd
