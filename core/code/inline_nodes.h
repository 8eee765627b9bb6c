// What was inlined where, for the bands beside the rows of code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profd {

// Places that instructions stand for, as chains: a row of these is a function and a line in it, its parent
// the one that it is inlined into. Parents come before. All columns have one length; texts are ids of the
// caller's.
struct InlineChains {
  std::span<const std::uint32_t> parent;  // or kNone: not inlined
  std::span<const std::uint32_t> function, file, line, column;
};

// An inlined call. Calls of one function from one place within one other are one, whatever lines of the
// function are met; row i of every column is node i, parents come before.
struct InlineNodes {
  std::vector<std::uint32_t> parent;    // node that the call stands in; kNone: the code's own function
  std::vector<std::uint32_t> function;  // that was inlined
  std::vector<std::uint32_t> call_file, call_line, call_column;  // of the call
  std::vector<std::uint32_t> of_chain;  // by chain row: its node, or kNone: not inlined
  std::size_t size() const { return parent.size(); }
};

InlineNodes inline_nodes(const InlineChains& chains);

}  // namespace profd
