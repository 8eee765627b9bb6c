// What an instruction does to the flow of control: said by a decoder, read by whatever draws or counts code.
#pragma once

#include <cstdint>

namespace profd {

enum class InstructionKind : std::uint8_t {
  plain,  // goes on with the next one, and is nothing of what follows
  jump,
  conditional_jump,
  call,
  indirect_jump,
  indirect_call,
  return_,
  trap,  // breakpoints and instructions that are invalid on purpose: nothing comes after them
  nop,
  data,  // bytes that the file marks as data
  bad,   // bytes that are no instruction
};

inline constexpr std::uint64_t kNoTarget = ~std::uint64_t{0};

// Whether control never comes to what stands behind it.
inline bool ends_flow(InstructionKind kind) {
  return kind == InstructionKind::jump || kind == InstructionKind::indirect_jump ||
         kind == InstructionKind::return_ || kind == InstructionKind::trap || kind == InstructionKind::data ||
         kind == InstructionKind::bad;
}

}  // namespace profd
