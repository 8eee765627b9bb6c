// What a client can do, by what it says in `initialize`.
#pragma once

#include "server/dialect/psp/session_context.h"

namespace profd {

Abilities abilities_of(const psp::ClientCapabilities& capabilities);

}  // namespace profd
