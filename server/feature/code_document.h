// A piece of code as a text that an editor shows, its instructions below the source lines that they are of,
// and what the editor asks about it: costs beside rows, folds, hovers, where a row leads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/disassembly_answer.h"
#include "server/feature/hover.h"

namespace profd {

struct CodeDocument {
  DisassemblyAnswer answer;      // of one piece, with all metrics of the profile as columns
  std::string function;          // that was asked for; "" its code was
  std::vector<PieceRow> others;  // further code of that function
  std::string profile_name;
  std::vector<std::string> lines;            // without breaks; texts of files are made safe
  std::vector<std::uint32_t> line_of_row;    // 0-based
  std::vector<std::uint32_t> line_of_other;  // of the first of `others`
  std::vector<std::uint32_t> row_of_line;    // kNone: no instruction stands there
  std::vector<std::uint32_t> line_of_block;  // where it is named; empty: there is one alone
  std::vector<std::string> source;           // by heading: the text of its source line; "" not known

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t memory() const;
};

// The text of a line of a file of the workspace; nothing where it is not known.
using CodeSource = std::function<std::optional<std::string>(const std::string& path, std::uint32_t line)>;

// `costs`: shares stand before the rows, for editors that show none beside them.
// `others` are named above the rows, as far as there is room.
CodeDocument code_document(DisassemblyAnswer answer, std::vector<PieceRow> others, std::string profile_name,
                           bool costs, const CodeSource& source);

struct CodeHint {
  std::uint32_t line = 0;  // 0-based
  std::string text;        // "60.0 %  6", "60.0 %  6 · self 20.0 %"
};
// Of rows and blocks that cost something, by line.
std::vector<CodeHint> code_hints(const CodeDocument& document);

// Lines from the first, which stays, to the last; each lies within another one or beside it.
struct CodeFold {
  std::uint32_t first = 0, last = 0;
};
// Blocks, and runs of rows within one that a call was inlined as.
std::vector<CodeFold> code_folds(const CodeDocument& document);

// Nothing where no instruction stands.
std::optional<Hover> code_hover(const CodeDocument& document, std::uint32_t line);

// Where a line leads; one of these.
struct CodeLink {
  std::optional<std::uint32_t> line;  // of the document, 0-based
  std::string code, name;             // "app+0x4010": a place in code, and what it is called
  std::string path;                   // a file of the workspace
  std::uint32_t path_line = 0;        // in it, from 1
};
// Jumps and calls lead to their targets, other code of the function to itself, all other rows and what stands
// above them to the source line. Nothing: nowhere that is known.
std::optional<CodeLink> code_link(const CodeDocument& document, std::uint32_t line);

// The lines of the document that have instructions of the same source line as this one; none where no
// instruction with a source line stands.
std::vector<std::uint32_t> rows_of_same_line(const CodeDocument& document, std::uint32_t line);

// "app+0x4001e0"
std::string code_of(const PieceRow& piece);

// "asm 4.90 KiB, 3 copies, hottest 41.0 % imul +0x52".
std::string code_lens_text(const DisassemblyAnswer& answer);

}  // namespace profd
