// What instructions of ARM do to the flow of control, told from their encoding: LLVM's C interface does not
// say.
#pragma once

#include <cstdint>

#include "core/support/instruction_kind.h"

namespace profd::native {

struct Flow {
  InstructionKind kind = InstructionKind::plain;
  std::uint64_t target = kNoTarget;
  // What an address that is counted from here comes to, where the text says the distance; of branches as
  // well.
  std::uint64_t refers_to = kNoTarget;
};

Flow aarch64_flow(std::uint32_t word, std::uint64_t address);
Flow arm_flow(std::uint32_t word, std::uint64_t address);
// `second` is 0 for instructions of 16 bits.
Flow thumb_flow(std::uint16_t first, std::uint16_t second, std::uint64_t address);
// Whether an instruction that begins so has 32 bits.
bool is_wide_thumb(std::uint16_t first);
// How many instructions behind it an IT instruction makes conditional; 0 for others.
unsigned n_conditional_after(std::uint16_t first);

}  // namespace profd::native
