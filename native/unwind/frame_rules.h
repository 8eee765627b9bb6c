// Where a function has, at one of its instructions, what its caller had in registers: made of the program of
// rules that the compiler wrote for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "native/unwind/frame_table.h"

namespace profd::native {

// Further ones (vector registers) matter to no caller's place. The last two are the return address of x86-64
// and a pad.
inline constexpr unsigned kMaxFrameRegisters = 33;

enum class RuleKind : std::uint8_t {
  unset,          // as the processor's conventions have it
  undefined,      // it is lost
  same,           // it was not touched
  at_frame,       // in memory, `value` above the frame's address
  frame_plus,     // the frame's address and `value`
  in_register,    // what `register_number` has, and `value`
  at_expression,  // in memory, where the expression says
  expression,     // what the expression says
};

struct FrameRule {
  RuleKind kind = RuleKind::unset;
  std::uint8_t register_number = 0;
  std::uint32_t size = 0;  // of the expression
  std::int64_t value = 0;  // or, of an expression, its place in the section
};

struct FrameRules {
  FrameRule frame;  // the address that the others count from: in_register or expression
  std::array<FrameRule, kMaxFrameRegisters> of;
  std::uint8_t return_register = 0;
  bool signal_frame = false;
  bool signed_return = false;  // the return address has a signature in its upper bits (AArch64)
};

// The rules at `at`, which `entry` covers. Nothing where its program is damaged or does what no rule is for.
std::optional<FrameRules> rules_at(const FrameTable& table, const FrameEntry& entry, std::uint64_t at);

}  // namespace profd::native
