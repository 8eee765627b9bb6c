// The table of formats in the terminal: `profd formats`, and `profd check --formats`; and the option that
// names one.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "server/cli/console.h"

namespace profd {

// One line a format, as wide as the terminal. Returns the exit code.
int list_formats(const Console& console);

// `--format`: reads files as this format; one that there is not is an error of the command line.
void add_format_option(CLI::App& app, std::string& format);

}  // namespace profd
