// Console: where a command writes, and how it ends.
#pragma once

#include <string>
#include <string_view>

#include "server/cli/terminal.h"

namespace profd {

// What `profd` ends with; documented in docs/cli.md.
enum ExitCode : int {
  kExitOk = 0,
  kExitInput = 1,     // the file or the request is at fault
  kExitUsage = 2,     // the command line is
  kExitInternal = 3,  // profd is
};

struct Console {
  Terminal out, err;

  // Writes to stdout; a reader that went away is no error (`profd top F | head`).
  int print(std::string_view text) const;
  // "profd: message" on stderr; message is made safe here. Returns `code`.
  int fail(std::string_view message, int code = kExitInput) const;
  void note(std::string_view message) const;
};

}  // namespace profd
