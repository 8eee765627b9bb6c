// profd serve, connect and query: the daemon and ways to it.
#include <CLI/CLI.hpp>

#include "server/cli/command.h"

namespace profd {

void add_daemon_commands(CLI::App&, Commands&) {}

}  // namespace profd
