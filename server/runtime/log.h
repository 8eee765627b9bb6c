// Logging: to stderr or a file, never to stdout, which belongs to the protocol.
#pragma once

#include <string>

#include "core/support/result.h"

namespace profd {

// Level from the environment variable PROFD_LOG (trace, debug, info, warn, error, off); default warn, or info
// with a file. `file` "" is stderr.
Result<void> start_logging(const std::string& file);

}  // namespace profd
