// Chunks of a worker as the tables of one binary, with names as people read them.
#pragma once

#include "core/model/symbolize.h"
#include "workers/symbols.h"

namespace profd {

// Empty tables for `n_asked` places; `asked` of chunks counts in these.
BinarySymbols symbols_for(std::size_t n_asked);
// Fails with `malformed` where the chunk answers what nobody asked.
Result<void> add_chunk(BinarySymbols& symbols, const worker::Chunk& chunk);

}  // namespace profd
