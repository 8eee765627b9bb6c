// A function as machine code: its instructions with what each costs in every metric, what was inlined where,
// blocks, jumps, and which rows a source line became.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/code/blocks.h"
#include "core/code/jumps.h"
#include "core/code/line_ranges.h"
#include "server/engine/code_lookup.h"
#include "server/feature/branch_columns.h"
#include "server/feature/metric_values.h"
#include "server/feature/view_answer.h"

namespace profd {

// What is meant; the first that is there counts. Nothing: the piece with the largest self value.
struct CodePlace {
  std::string function;         // as it was shown
  std::string module;           // path or name, with the address
  std::uint64_t address = 0;    // as the module's symbol table counts
  std::vector<StringId> files;  // the profile's spellings of a source file, with the line
  std::uint32_t line = 0;       // from 1
};

struct DisassemblyRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // where sources are looked for; empty: nowhere
  ViewSpec spec;                // its filters and metric; the shape does not matter
  CodePlace place;
  std::vector<std::string> metrics;  // further ones of every row, stored or by formula
  bool att = false;
  std::uint32_t piece = 0;    // of DisassemblyAnswer::pieces
  bool source_lines = false;  // DisassemblyAnswer::source_lines is wanted
};

// A piece of code that holds what is meant. Numbers are of all of it.
struct PieceRow {
  std::string name;        // of the function that it is code of
  std::string symbol;      // its name in the symbol table; "" none
  std::string module;      // short
  std::string file;        // of the function's definition, as the profile calls it; "" unknown
  std::uint32_t line = 0;  // where it begins, 0 unknown
  std::uint64_t start = 0, n_bytes = 0;
  Amount self, total;
};

// Columns, all equally long; row i is an instruction.
struct InstructionColumns {
  std::vector<std::uint64_t> address;  // as the symbol table counts
  std::vector<std::uint8_t> length;
  std::vector<std::string> text;
  std::vector<InstructionKind> kind;
  std::vector<std::int64_t> target;  // row that it leads to; -1 none
  std::vector<std::string>
      target_name;  // of what lies outside: "memcpy@plt", "0x4010" where it has none; "" none
  // Of what lies outside in code that the profile has, as a CodePlace: "app+0x4010"; "" else.
  std::vector<std::string> target_code;
  std::vector<std::uint32_t> block;         // of `blocks`
  std::vector<std::int64_t> inlined;        // of `inlined_calls`; -1: code of the function itself
  std::vector<std::int64_t> file;           // of `files`; -1 unknown
  std::vector<std::uint32_t> line, column;  // 0 unknown
  std::vector<std::uint8_t> matched;        // 1: of what was asked for, where that was inlined here
  std::vector<Value> self, total;           // of the view's metric
  std::vector<std::string> self_text, total_text, self_share, total_share;
  std::vector<double> heat;  // 0 to 1: square root of the share of the hottest row
  // How often branch stacks saw it carried out; empty where none saw any of this code.
  std::vector<std::uint64_t> executed;
  std::vector<std::string> executed_text;
};

struct InlinedCalls {
  std::vector<std::int64_t> parent;  // an earlier one; -1: called by the code's own function
  std::vector<std::string> function;
  std::vector<std::int64_t> file;   // of the call, in `files`; -1 unknown
  std::vector<std::uint32_t> line;  // of the call
};

// Runs of rows of one source line and one chain of inlined calls, as what stands above them; all rows are in
// one, and none where no row has a place. Columns of one length.
struct CodeHeadings {
  std::vector<std::uint32_t> first, count;  // rows
  // "round3 a.cc:7 > mix a.cc:6 > a.cc:9": the innermost call first, each with the line that is carried out
  // in it, then the line of the function itself; "?" where a line is not known. For people, so made safe.
  std::vector<std::string> text;
};

// What the stacks of the piece have on a source line: an inlined one counts where it stands and, in total,
// where it is called.
struct CodeLine {
  std::string file;  // as the profile calls it
  std::string path;  // of the workspace; "" none, or not just one
  std::uint32_t line = 0;
  Amount self, total;
};

// A value of the piece that is on no row.
struct CodeRest {
  Amount amount;
  std::string why;
};

struct DisassemblyAnswer {
  ViewHead head;
  std::vector<PieceRow> pieces;  // what holds most of what was asked for first
  std::uint32_t piece = 0;       // the one that is shown
  std::string problem;           // why there are no rows, as a sentence; "" there are
  std::string note;              // what holds of all rows; "" nothing
  std::string skid;              // how far the numbers may be off their instructions; "" they are not
  std::string code;              // the bytes of all rows, side by side
  InstructionColumns rows;
  std::vector<MetricRows> columns;
  std::vector<std::string> files;  // as the compiler called them
  std::vector<std::string> paths;  // by `files`: of the workspace; "" none, or not just one
  InlinedCalls inlined_calls;
  CodeHeadings headings;
  Blocks blocks;
  std::vector<Amount> block_self;
  std::vector<std::string> block_executed;  // of the row carried out most often; empty as rows.executed is
  Jumps jumps;
  BranchColumns branches;
  std::string branch_note;  // "": no branch stack saw any of this code
  LineRanges lines;         // `file` is of `files`
  std::vector<CodeRest> rest;
  std::vector<CodeLine> source_lines;  // by file and line; empty where they are not asked for
};

// Fetches code; may block.
using CodeLookup = std::function<Result<std::shared_ptr<const CodeAnswer>>(const CodeQuestion&)>;

// Of a profile that was put together of others: see disassembly_of_input().
// `not_found`: nothing is called so, or was measured there. What keeps code from being shown is the answer's
// problem.
Result<DisassemblyAnswer> disassembly_answer(Views& views, const DisassemblyRequest& request,
                                             const CodeLookup& look_up, const StopToken& stop);

}  // namespace profd
