// libdebuginfod of elfutils, opened when somebody has agreed to fetch and never linked: it is under the LGPL
// or GPL, and not on every machine.
#pragma once

#include <functional>
#include <string>

#include "core/support/result.h"
#include "workers/fetch_message.h"

namespace profd::native {

// Asks the servers and keeps what comes in its folder, as the library does: `BUILD_ID/debuginfo`, empty for a
// while where no server has it. Blocks. `tell` is called many times a second; false: it is given up, and the
// answer is of no interest. Changes the environment of this process.
worker::Fetching fetch_debug_file(const worker::FetchOrder& order,
                                  const std::function<bool(const worker::Fetching& so_far)>& tell);

}  // namespace profd::native
