// How x86 instructions are written: as people and assemblers know them. Zydis writes names of conditions
// (jnbe), AT&T suffixes (movsdq) and registers of the x87 (st1) that no assembler takes.
#pragma once

#include <cstdint>
#include <string_view>

#include <Zydis/Zydis.h>

#include "native/disasm/instructions.h"

namespace profd::native {

class X86Text {
 public:
  explicit X86Text(Syntax syntax);
  // Empty where it has none; valid until the next call. `operands` are the visible ones.
  std::string_view write(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
                         std::uint64_t address);

 private:
  ZydisFormatter formatter_;
  char text_[192];  // longer than any instruction's; Zydis itself uses 96
};

// The letters that AT&T syntax puts behind a mnemonic where operands alone leave a size open: "q" for a
// number added to memory, "t" for a long double that is loaded.
std::string_view att_suffix(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands);

}  // namespace profd::native
