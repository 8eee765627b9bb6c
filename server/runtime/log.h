// Logging: to stderr or a file, never to stdout, which belongs to the protocol.
#pragma once

#include <string>

#include "core/support/result.h"

namespace profd {

// Level from the environment variable PROFD_LOG (trace, debug, info, warn, error, off); default warn, or info
// with a file. `file` "" is stderr. Control characters in messages are escaped.
Result<void> start_logging(const std::string& file);

// `text` with control characters escaped, so that a name from a file cannot drive a terminal.
std::string printable(std::string_view text);

}  // namespace profd
