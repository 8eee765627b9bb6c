// What addresses of one module stand for: functions, inlined calls and lines, as tables that refer to each
// other by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/support/id.h"

namespace profd::native {

// Rows of `links`, `functions`, `pieces` and `texts` are numbers; kNone where there is none. Text 0 is "".
struct Chains {
  // By asked address, in the order they were asked in: the innermost link and the code piece, or kNone. An
  // address with a link is named; one with a piece alone is bounded, but nobody says by what name.
  std::vector<std::uint32_t> link_of;
  std::vector<std::uint32_t> piece_of;

  // One frame of a chain: code of `function` at `file`:`line`. The innermost link has the line table's place,
  // each one above it the place of the call that was inlined. Links are distinct, and a parent has a smaller
  // row than its children. That a file is foreign to its function (code that was included) shows where `file`
  // is not that of the function.
  struct Link {
    std::uint32_t parent = kNone;    // the link that this one is inlined into; kNone at the outermost
    std::uint32_t function = kNone;  // kNone where lines are known and names are not
    std::uint32_t file = 0;          // a text: the path as the compiler had it, joined with its folder
    std::uint32_t line = 0;          // 0: no line
    std::uint32_t column = 0;        // 0: no column
    bool operator==(const Link&) const = default;
  };
  std::vector<Link> links;

  // Clones of one function (.constprop.0, .cold, C1 and C4 of a constructor) are one row.
  struct Function {
    std::uint32_t linkage = 0;  // a text: the mangled name without suffixes of clones; 0 where there is none
    std::uint32_t name =
        0;  // a text: as the debug information spells it, qualified; for people where linkage is 0
    std::uint32_t file = 0;  // a text: where it is declared; 0 where unknown
    std::uint32_t line = 0;
  };
  std::vector<Function> functions;

  // Code that lies in one piece: an outer symbol, or what .eh_frame bounds where there is no symbol.
  struct Piece {
    std::uint64_t start = 0;  // vaddr
    std::uint64_t size = 0;
    std::uint32_t raw_name =
        0;  // a text: the symbol as it stands in its table ("f.constprop.0"); 0 where there is none
    std::uint32_t function = kNone;  // which function it is code of
  };
  std::vector<Piece> pieces;

  std::vector<std::string> texts;
};

}  // namespace profd::native
