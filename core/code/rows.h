// Instructions as a decoder gives them, and what can be asked of them without one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/support/id.h"
#include "core/support/instruction_kind.h"

namespace profd {

// A row an instruction, ascending by address, not overlapping; gaps are allowed. All columns have one length.
struct CodeRows {
  std::span<const std::uint64_t> address;
  std::span<const std::uint8_t> length;
  std::span<const InstructionKind> kind;
  std::span<const std::uint64_t> target;  // or kNoTarget
  std::size_t size() const { return address.size(); }
};

// The row that an address lies in, its middle as well, or kNone.
std::uint32_t row_at(const CodeRows& rows, std::uint64_t address);

// By row: the row that begins where its jump or call leads, or kNone: it leads elsewhere, or into the middle
// of one.
std::vector<std::uint32_t> target_rows(const CodeRows& rows);

}  // namespace profd
