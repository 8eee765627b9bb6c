// Lookup: one module's order, answered: its files, its addresses as those of the symbol table, what stands
// for them, chunk by chunk.
#pragma once

#include "core/support/result.h"
#include "workers/symbols.h"

namespace profd::worker {

// Sends all that the module's order is answered with but Done, which is the result. An error is one of the
// socket.
Result<Done> look_up(int socket, const ModuleOrder& order);

}  // namespace profd::worker
