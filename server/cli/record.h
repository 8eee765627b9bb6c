// profd record: runs a command under a profiler, in the terminal of who typed it.
#pragma once

#include "server/cli/command.h"

namespace profd {

void add_record(CLI::App& root, Commands& commands);

}  // namespace profd
