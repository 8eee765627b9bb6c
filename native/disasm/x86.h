// Decoding of x86 with Zydis.
#pragma once

#include "native/disasm/instructions.h"

namespace profd::native {

// Of machine x86_64 or x86 and at most kMaxCodeBytes.
Instructions disassemble_x86(const Code& code);

}  // namespace profd::native
