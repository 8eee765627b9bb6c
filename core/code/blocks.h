// Basic blocks of code and the loops that they are in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/code/rows.h"

namespace profd {

// Block b is rows [first[b], first[b + 1]); the last one ends with the rows.
struct Blocks {
  std::vector<std::uint32_t> first;       // row, ascending; the first is 0 where there are rows
  std::vector<std::uint32_t> loop_depth;  // in how many loops, one inside of the other, it is
  std::size_t size() const { return first.size(); }
};

// A block begins at the first row, where a jump leads and behind every jump, return and trap; calls end none.
// It cannot be entered but at its front, as far as the code says.
//
// A loop is what a jump back makes whose target lies on every way from the entry to it. Where an indirect
// jump leads is not known: to every block, it is assumed, that nothing else leads to. Such blocks are entries
// where there is no indirect jump (of handlers of exceptions, for example). Time is nearly linear in rows.
Blocks basic_blocks(const CodeRows& rows, std::span<const std::uint32_t> target_rows);

}  // namespace profd
