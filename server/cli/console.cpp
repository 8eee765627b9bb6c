#include "server/cli/console.h"

#include <cerrno>
#include <system_error>

#include <unistd.h>

#include "server/feature/escape.h"

namespace profd {

int Console::print(std::string_view text) const {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return kExitOk;
  return fail("cannot write to stdout: " + std::generic_category().message(error));
}

int Console::fail(std::string_view message, int code) const {
  write_all(STDERR_FILENO, err.failure("profd:") + " " + sanitize_text(message) + "\n");
  return code;
}

void Console::note(std::string_view message) const {
  write_all(STDERR_FILENO, err.dim(sanitize_text(message)) + "\n");
}

}  // namespace profd
