// One order of code, answered: its instructions, and what they and the places that they lead to are.
#pragma once

#include "core/support/result.h"
#include "native/disasm/disassembler.h"
#include "workers/symbols.h"

namespace profd::worker {

// Sends all that the order is answered with but Done, which is the result. An error is one of the socket.
// `may_load`: a library that the code needs may be opened now; where it is needed and may not, Done says so.
Result<Done> disassemble(int socket, const CodeOrder& order, native::Disassembler& disassembler,
                         bool may_load);

}  // namespace profd::worker
