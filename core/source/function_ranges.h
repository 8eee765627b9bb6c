// Parts of functions: where within them their self value is, by source line, by instruction, or by index of
// bytecode.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"
#include "core/source/slot_sums.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/view/key_index.h"
#include "core/view/selection.h"

namespace profd {

enum class RangeUnit : std::uint8_t {
  automatic,  // lines where the profile knows one of the function, else bytecodes, else addresses
  line,       // a line of a file: what was inlined, as far as it is the function's self, has other files
  address,    // an address in a module
  bytecode,   // an index of bytecode; a range where the source says that (core/model/bytecode_index.h)
};

// A part of a function, [from, to).
struct FunctionRange {
  bool known = false;       // false: of code whose place is not known
  StringId file{0U};        // of the line
  std::uint32_t line = 0;   // from 1; 0 unknown, or of an instruction that stands on several
  ModuleId module;          // of the address
  std::uint64_t from = 0;   // line, address, index
  std::uint64_t to = 0;     // 0 unknown: where an instruction or a bytecode ends, the profile does not say
  bool open_ended = false;  // a range of bytecodes to the function's end
};

// What is known of the code of a function.
struct RangesKnown {
  bool lines = false, addresses = false, bytecodes = false;
};

// Of several functions; the rows of the i-th are [first[i], first[i + 1]).
struct FunctionRanges {
  std::vector<std::uint32_t> first;
  std::vector<RangeUnit> unit;     // by function, never automatic
  std::vector<RangesKnown> known;  // by function
  // In the order of the code, the file of the function's definition before others; what has no known place is
  // the last row.
  std::vector<FunctionRange> rows;
  // By row. The selfs of a function's rows are together its self, in every metric that is a sum over stacks.
  SlotSums sums;

  [[nodiscard]] std::size_t memory() const;
};

// `function_of_frame`: by frame the number of its function, below `n_functions`, or kNone; what is one
// function is the caller's to say. Frames that a filter hides or makes part of a group have no part in it.
// One sweep over the profile, however many functions there are.
Result<FunctionRanges> function_ranges(const Selection& selection,
                                       std::vector<std::uint32_t> function_of_frame, std::size_t n_functions,
                                       RangeUnit unit, StopToken stop, Executor& executor);
// The same of one function in the metric of the selection alone, from its contexts: other metrics have no
// sums. Only where ranges_are_in_index(): what is hidden, folded, stated or put together takes the sweep.
Result<FunctionRanges> function_ranges(const Selection& selection, const KeyIndex& index, Key key,
                                       RangeUnit unit, StopToken stop);
bool ranges_are_in_index(const Selection& selection);
// For one function, a key of a selection by function: 0 for its frames.
std::vector<std::uint32_t> frames_of_key(const Selection& selection, Key key);

}  // namespace profd
