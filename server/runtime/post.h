// Post: runs a task later on the strand. Safe from any thread.
#pragma once

#include <functional>

#include "core/support/unique_function.h"

namespace profd {

using Post = std::function<void(UniqueFunction<void()>)>;

}  // namespace profd
