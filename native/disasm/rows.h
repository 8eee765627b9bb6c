// How decoders add rows.
#pragma once

#include <string_view>

#include "native/disasm/instructions.h"

namespace profd::native {

struct Row {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  InstructionKind kind = InstructionKind::plain;
  std::uint64_t target = kNoTarget;
  std::string_view text;
};

inline void add_row(Instructions& rows, const Row& row) {
  rows.address.push_back(row.address);
  rows.length.push_back(row.length);
  rows.kind.push_back(row.kind);
  rows.target.push_back(row.target);
  rows.texts += row.text;
  rows.text_end.push_back(static_cast<std::uint32_t>(rows.texts.size()));
}

}  // namespace profd::native
