// What a stream would have said so far, had the program just been attached: with it a recording begins in the
// midst of a session.
#pragma once

#include <string>

#include "core/live/session.h"

namespace profd::live {

// `hello`, modules, methods, threads and what is open on them, at the time of the last tick. Empty before the
// session's own `hello`. What the session has of a message that has only begun stands at the end.
std::string write_preamble(const Session& session);

}  // namespace profd::live
