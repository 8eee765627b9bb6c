// Which function and which inlined calls of a unit addresses lie in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "native/lines/units.h"

namespace profd::native {

inline constexpr std::uint32_t kMaxInlineDepth = 512;  // calls deeper than that are their caller's

// A function of the unit, or a call that was inlined into its parent. A parent stands before its children.
struct InlineNode {
  std::uint32_t parent = 0;  // kNone for a function
  std::uint32_t depth = 0;
  std::uint64_t entry = 0;  // in .debug_info
  Value origin;             // what it is a copy of
  std::uint64_t call_file = 0;
  std::uint32_t call_line = 0;
  std::uint32_t call_column = 0;
  std::uint64_t begin = 0, end = 0;  // of a function: the first of its ranges that holds an asked address
};

// A function of the unit whose code stands apart from those that it was inlined into, by the entry that all
// of them are copies of.
struct OwnCode {
  std::uint64_t origin = 0;  // in .debug_info, of this unit
  std::uint64_t begin = 0;   // vaddr
};

struct UnitInlines {
  std::vector<InlineNode> nodes;       // those that hold an asked address
  std::vector<std::uint32_t> node_of;  // by asked address: the innermost, or kNone
  std::vector<OwnCode> own_code;       // sorted by origin, asked or not
};

// One pass over the unit. `asked` is sorted. Of two that overlap the later one in the unit has the address;
// what an inlined call claims beyond its parent is not its. Code below `code_begin` was thrown away by the
// linker.
UnitInlines find_inlines(const Unit& unit, std::span<const std::uint64_t> asked, std::uint64_t code_begin,
                         const std::function<bool(std::uint64_t, std::uint64_t)>& keeps);

}  // namespace profd::native
