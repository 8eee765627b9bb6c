// Logging: to stderr or a file, never to stdout, which belongs to the protocol.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

// Level from the environment variable PROFD_LOG (trace, debug, info, warn, error, off); default warn, or info
// with a file. `file` "" is stderr.
Result<void> start_logging(const std::string& file);

// One line each, where the level asks for it: control characters, line breaks and bidirectional overrides are
// escaped here and nowhere else, and what is said over and over is folded (repeats.h). Safe from any thread.
void log_error(std::string_view text);
void log_warning(std::string_view text);
void log_info(std::string_view text);

}  // namespace profd
