// Code as the protocol has it.
#pragma once

#include <cstddef>

#include "protocol/generated/psp_types.h"
#include "server/feature/disassembly_answer.h"

namespace profd {

// Which rows of the piece a client gets; blocks, jumps and lines come where they have one of these.
struct CodeWindow {
  std::size_t offset = 0, limit = ~std::size_t{0};
  bool bytes = true;
};
psp::SourceDisassemblyResult to_psp(DisassemblyAnswer answer, const CodeWindow& window = {});

}  // namespace profd
