// Expressions of DWARF as rules for frames have them: numbers, registers, memory of the stack, no calls.
#pragma once

#include <cstdint>
#include <optional>

#include "native/elf/bytes.h"

namespace profd::native {

// What an expression may look at.
class FrameMemory {
 public:
  virtual ~FrameMemory() = default;
  // Nothing where it is not known.
  [[nodiscard]] virtual std::optional<std::uint64_t> register_value(std::uint64_t number) const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> read(std::uint64_t address, unsigned size) const = 0;
};

// `first`: what is on its stack when it begins. Nothing where it is damaged, takes too long or asks for what
// is not there.
std::optional<std::uint64_t> evaluate(Bytes expression, bool big_endian, const FrameMemory& memory,
                                      std::optional<std::uint64_t> first);

}  // namespace profd::native
