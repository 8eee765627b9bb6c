// Decoding of ARM and AArch64 with LLVM.
#pragma once

#include "core/support/result.h"
#include "native/disasm/instructions.h"
#include "native/disasm/llvm_library.h"

namespace profd::native {

// Of machine aarch64 or arm, little-endian, at most kMaxCodeBytes.
Result<Instructions> disassemble_arm(const LlvmLibrary& library, const Code& code);

}  // namespace profd::native
