// Where written bytes go.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/support/result.h"

namespace profd {

using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

}  // namespace profd
