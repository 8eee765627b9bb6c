// Lookup: one module's order, answered: its files, its addresses as those of the symbol table, what stands
// for them, chunk by chunk.
#pragma once

#include <cstdint>
#include <span>

#include "core/support/result.h"
#include "native/worker/files.h"
#include "workers/symbols.h"

namespace profd::worker {

// Sends all that the module's order is answered with but Done, which is the result. An error is one of the
// socket.
Result<Done> look_up(int socket, const ModuleOrder& order);

struct AskedPlace {
  std::uint64_t vaddr = 0;
  std::uint32_t asked = 0;  // what chunks call it
};
// Sends the chunks of places in the files that were found, which ascend by vaddr. Of Done it says `problem`
// and `lines`.
Result<Done> look_up_places(int socket, ModuleImages& images, std::span<const AskedPlace> places);

}  // namespace profd::worker
