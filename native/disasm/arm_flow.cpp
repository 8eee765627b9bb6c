#include "native/disasm/arm_flow.h"

namespace profd::native {
namespace {

constexpr std::uint32_t kLinkRegister = 14, kStackPointer = 13, kProgramCounter = 15;

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned n) {
  return (word >> low) & ((1u << n) - 1u);
}

constexpr std::uint64_t signed_offset(std::uint32_t value, unsigned n_bits, unsigned shift) {
  const std::uint64_t sign = std::uint64_t{1} << (n_bits - 1);
  return ((std::uint64_t{value} ^ sign) - sign) << shift;
}

Flow branch(InstructionKind kind, std::uint64_t target) {
  return {kind, target, target};
}

Flow go_to_register(std::uint32_t reg) {
  return {reg == kLinkRegister ? InstructionKind::return_ : InstructionKind::indirect_jump};
}

// An instruction that is carried out under a condition may go on, whatever it does else.
Flow under_condition(Flow flow, bool conditional) {
  if (conditional && ends_flow(flow.kind)) flow.kind = InstructionKind::conditional_jump;
  return flow;
}

Flow aarch64_register_branch(std::uint32_t word) {
  switch (bits(word, 21, 4)) {
    case 0b0000:
    case 0b1000:
      return {InstructionKind::indirect_jump};
    case 0b0001:
    case 0b1001:
      return {InstructionKind::indirect_call};
    case 0b0010:
    case 0b0100:
    case 0b0101:
      return {InstructionKind::return_};
    default:
      return {};
  }
}

// Whether data processing of A32 writes the program counter.
bool computes_program_counter(std::uint32_t word) {
  if (bits(word, 26, 2) != 0 || bits(word, 12, 4) != kProgramCounter) return false;
  const std::uint32_t operation = bits(word, 21, 4);
  const bool sets_flags_alone = operation >= 0b1000 && operation <= 0b1011;
  const bool immediate = bits(word, 25, 1) != 0;
  // Multiplications, extra loads and stores stand where shifts have both bits set.
  const bool another = !immediate && bits(word, 4, 1) != 0 && bits(word, 7, 1) != 0;
  return !sets_flags_alone && !another;
}

Flow unconditional_arm_flow(std::uint32_t word) {
  if ((word & 0x0ffffff0u) == 0x012fff10u) return go_to_register(bits(word, 0, 4));
  if ((word & 0x0ffffff0u) == 0x012fff20u) return {InstructionKind::indirect_jump};
  if ((word & 0x0ffffff0u) == 0x012fff30u) return {InstructionKind::indirect_call};
  if ((word & 0x0ff000f0u) == 0x07f000f0u || (word & 0x0ff000f0u) == 0x01200070u) {
    return {InstructionKind::trap};
  }
  if ((word & 0x0fffffffu) == 0x0320f000u || (word & 0x0fffffffu) == 0x01a00000u) {
    return {InstructionKind::nop};
  }
  if ((word & 0x0fffffffu) == 0x01a0f00eu) return {InstructionKind::return_};
  const bool loads = bits(word, 20, 1) != 0;
  const bool from_stack = bits(word, 16, 4) == kStackPointer;
  const Flow left{from_stack ? InstructionKind::return_ : InstructionKind::indirect_jump};
  if (bits(word, 25, 3) == 0b100 && loads && bits(word, 15, 1) != 0) return left;
  const bool media = bits(word, 25, 1) != 0 && bits(word, 4, 1) != 0;
  if (bits(word, 26, 2) == 0b01 && loads && !media && bits(word, 12, 4) == kProgramCounter) return left;
  if (computes_program_counter(word)) return {InstructionKind::indirect_jump};
  return {};
}

Flow narrow_thumb_flow(std::uint16_t half, std::uint64_t here) {
  if ((half & 0xf000u) == 0xd000u) {
    const std::uint32_t condition = bits(half, 8, 4);
    if (condition == 14) return {InstructionKind::trap};
    if (condition == 15) return {};
    return branch(InstructionKind::conditional_jump, here + signed_offset(bits(half, 0, 8), 8, 1));
  }
  if ((half & 0xf800u) == 0xe000u) {
    return branch(InstructionKind::jump, here + signed_offset(bits(half, 0, 11), 11, 1));
  }
  if ((half & 0xf500u) == 0xb100u) {
    const std::uint32_t distance = (bits(half, 9, 1) << 6) | (bits(half, 3, 5) << 1);
    return branch(InstructionKind::conditional_jump, here + distance);
  }
  if ((half & 0xff80u) == 0x4700u) return go_to_register(bits(half, 3, 4));
  if ((half & 0xff80u) == 0x4780u) return {InstructionKind::indirect_call};
  if ((half & 0xff00u) == 0xbd00u) return {InstructionKind::return_};
  if ((half & 0xff87u) == 0x4687u) return go_to_register(bits(half, 3, 4));
  if ((half & 0xff87u) == 0x4487u) return {InstructionKind::indirect_jump};
  if ((half & 0xff00u) == 0xbe00u) return {InstructionKind::trap};
  if (half == 0xbf00u || half == 0x46c0u) return {InstructionKind::nop};
  return {};
}

std::uint64_t wide_branch_offset(std::uint16_t first, std::uint16_t second) {
  const std::uint32_t sign = bits(first, 10, 1);
  const std::uint32_t i1 = 1u ^ bits(second, 13, 1) ^ sign, i2 = 1u ^ bits(second, 11, 1) ^ sign;
  return signed_offset(
      (sign << 23) | (i1 << 22) | (i2 << 21) | (bits(first, 0, 10) << 11) | bits(second, 0, 11), 24, 1);
}

Flow wide_thumb_flow(std::uint16_t first, std::uint16_t second, std::uint64_t here) {
  if ((first & 0xf800u) == 0xf000u && (second & 0x8000u) != 0) {
    switch (second & 0xd000u) {
      case 0x9000u:
        return branch(InstructionKind::jump, here + wide_branch_offset(first, second));
      case 0xd000u:
        return branch(InstructionKind::call, here + wide_branch_offset(first, second));
      case 0xc000u:
        // To ARM code, counted from a multiple of four.
        return branch(InstructionKind::call,
                      (here & ~std::uint64_t{3}) + (wide_branch_offset(first, second) & ~std::uint64_t{3}));
      default:
        break;
    }
    if (bits(first, 6, 4) < 14) {
      const std::uint32_t distance = (bits(first, 10, 1) << 19) | (bits(second, 11, 1) << 18) |
                                     (bits(second, 13, 1) << 17) | (bits(first, 0, 6) << 11) |
                                     bits(second, 0, 11);
      return branch(InstructionKind::conditional_jump, here + signed_offset(distance, 20, 1));
    }
    if ((first & 0xfff0u) == 0xf7f0u && (second & 0xf000u) == 0xa000u) return {InstructionKind::trap};
    if (first == 0xf3afu && second == 0x8000u) return {InstructionKind::nop};
    return {};
  }
  if ((first & 0xfff0u) == 0xe8d0u && (second & 0xffe0u) == 0xf000u) return {InstructionKind::indirect_jump};
  const bool from_stack = bits(first, 0, 4) == kStackPointer;
  const Flow left{from_stack ? InstructionKind::return_ : InstructionKind::indirect_jump};
  const bool loads_many = (first & 0xffd0u) == 0xe890u || (first & 0xffd0u) == 0xe910u;
  if (loads_many && (second & 0x8000u) != 0) return left;
  const bool loads_word = (first & 0xff70u) == 0xf850u;
  if (loads_word && bits(second, 12, 4) == kProgramCounter) return left;
  return {};
}

}  // namespace

Flow aarch64_flow(std::uint32_t word, std::uint64_t address) {
  const std::uint64_t far = address + signed_offset(bits(word, 0, 26), 26, 2);
  const std::uint64_t near = address + signed_offset(bits(word, 5, 19), 19, 2);
  if ((word & 0xfc000000u) == 0x14000000u) return branch(InstructionKind::jump, far);
  if ((word & 0xfc000000u) == 0x94000000u) return branch(InstructionKind::call, far);
  if ((word & 0xff000000u) == 0x54000000u) {
    // Conditions 14 and 15 are always true.
    const bool always = bits(word, 1, 3) == 0b111;
    return branch(always ? InstructionKind::jump : InstructionKind::conditional_jump, near);
  }
  if ((word & 0x7e000000u) == 0x34000000u) return branch(InstructionKind::conditional_jump, near);
  if ((word & 0x7e000000u) == 0x36000000u) {
    return branch(InstructionKind::conditional_jump, address + signed_offset(bits(word, 5, 14), 14, 2));
  }
  if ((word & 0xfe1f0000u) == 0xd61f0000u) return aarch64_register_branch(word);
  const bool breaks = (word & 0xffe0001fu) == 0xd4200000u || (word & 0xffe0001fu) == 0xd4400000u;
  if (breaks || (word & 0xffff0000u) == 0) return {InstructionKind::trap};
  if (word == 0xd503201fu) return {InstructionKind::nop};
  const std::uint32_t distance = (bits(word, 5, 19) << 2) | bits(word, 29, 2);
  Flow flow;
  if ((word & 0x9f000000u) == 0x10000000u) flow.refers_to = address + signed_offset(distance, 21, 0);
  if ((word & 0x9f000000u) == 0x90000000u) {
    flow.refers_to = (address & ~std::uint64_t{0xfff}) + signed_offset(distance, 21, 12);
  }
  if ((word & 0x3b000000u) == 0x18000000u) flow.refers_to = near;
  return flow;
}

Flow arm_flow(std::uint32_t word, std::uint64_t address) {
  const std::uint32_t condition = bits(word, 28, 4);
  const std::uint64_t here = address + 8;  // what the program counter says
  const std::uint64_t far = here + signed_offset(bits(word, 0, 24), 24, 2);
  if (condition == 15) {
    if (bits(word, 25, 3) != 0b101) return {};
    return branch(InstructionKind::call, far + 2 * bits(word, 24, 1));
  }
  if (bits(word, 24, 4) == 0b1010) {
    return branch(condition == 14 ? InstructionKind::jump : InstructionKind::conditional_jump, far);
  }
  if (bits(word, 24, 4) == 0b1011) return branch(InstructionKind::call, far);
  return under_condition(unconditional_arm_flow(word), condition != 14);
}

bool is_wide_thumb(std::uint16_t first) {
  return (first & 0xf800u) > 0xe000u;
}

Flow thumb_flow(std::uint16_t first, std::uint16_t second, std::uint64_t address) {
  const std::uint64_t here = address + 4;  // what the program counter says
  return is_wide_thumb(first) ? wide_thumb_flow(first, second, here) : narrow_thumb_flow(first, here);
}

unsigned n_conditional_after(std::uint16_t first) {
  const std::uint32_t mask = bits(first, 0, 4);
  if ((first & 0xff00u) != 0xbf00u || mask == 0) return 0;
  unsigned n = 4;
  for (std::uint32_t m = mask; (m & 1u) == 0; m >>= 1) --n;
  return n;
}

}  // namespace profd::native
