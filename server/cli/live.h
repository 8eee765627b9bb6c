// profd live: programs that run, in the terminal.
#pragma once

#include "server/cli/command.h"

namespace profd {

void add_live(CLI::App& root, Commands& commands);

}  // namespace profd
