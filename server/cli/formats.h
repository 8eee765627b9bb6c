// The table of formats in the terminal: `profd formats`, and `profd check --formats`.
#pragma once

#include "server/cli/console.h"

namespace profd {

// One line a format, as wide as the terminal. Returns the exit code.
int list_formats(const Console& console);

}  // namespace profd
