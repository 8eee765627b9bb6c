// Machine code as rows: bytes and where they start in; bounds, kinds, targets and texts of instructions out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/instruction_kind.h"
#include "native/machine.h"

namespace profd::native {

enum class Syntax : std::uint8_t { intel, att };

// From an address on, code of this mode: what the symbols $a, $t, $x and $d of ELF files mark.
enum class CodeMode : std::uint8_t { arm, thumb, data };
struct ModeMark {
  std::uint64_t address = 0;
  CodeMode mode = CodeMode::arm;  // `arm` is also what $x means
};

struct Code {
  std::span<const std::uint8_t> bytes;
  std::uint64_t start = 0;  // address of the first byte; the code does not pass the end of the address space
  Machine machine = Machine::x86_64;
  Syntax syntax = Syntax::intel;  // of x86; the others have one
  // Ascending by address, of ARM and AArch64 alone; the last one not above an address holds there, and before
  // the first one it is ARM or AArch64 code.
  std::span<const ModeMark> marks{};
};

// Struct of arrays, a row an instruction: ascending, without gaps and overlaps, from the first byte to the
// last. Bytes that are none have rows of kind `bad`, of a byte on x86 and of the smallest instruction's size
// elsewhere.
struct Instructions {
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> length;  // in bytes, 1 to 15
  std::vector<InstructionKind> kind;
  std::vector<std::uint64_t> target;    // of a jump or call that says its own; else kNoTarget
  std::vector<std::uint32_t> text_end;  // text i is of `texts`, from the end of text i - 1
  std::string texts;                    // ASCII, a space behind the mnemonic; targets are absolute, 0x…

  std::size_t size() const { return address.size(); }
  std::string_view text(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : text_end[row - 1];
    return std::string_view(texts).substr(begin, text_end[row] - begin);
  }
};

// More than any compiler makes of one function. Rows and texts of so many bytes take at most 500 MB.
inline constexpr std::size_t kMaxCodeBytes = std::size_t{8} << 20;

}  // namespace profd::native
