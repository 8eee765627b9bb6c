// Commands that draw: in the terminal, as a self-contained page (-o), or as the answer for scripts (--json).
#pragma once

#include <string>

#include "server/cli/profile_options.h"
#include "server/cli/write_file.h"

namespace profd {

// Of those that draw what happened over time.
struct OverTimeOptions {
  ProfileOptions profile;
  OutputFile output;
  bool json = false;
  std::string time;  // the part that is looked at, for window_of(); "" is all
};

// `answer` is the message whose answer --json prints.
void add_over_time_options(CLI::App& app, OverTimeOptions& options, const std::string& answer);

// Writes `page` to `output`, which check_output() let pass, and says so at a terminal. The exit code.
int print_page(const OutputFile& output, const std::string& page, const Console& console);

}  // namespace profd
