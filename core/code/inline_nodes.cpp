#include "core/code/inline_nodes.h"

#include "core/support/hash.h"
#include "core/support/id.h"
#include "core/support/interner.h"

namespace profd {

InlineNodes inline_nodes(const InlineChains& chains) {
  InlineNodes nodes;
  nodes.of_chain.assign(chains.parent.size(), kNone);
  RowSet known;
  for (std::size_t i = 0; i < chains.parent.size(); ++i) {
    const std::uint32_t outer = chains.parent[i];
    if (outer == kNone) continue;
    const std::uint32_t parent = nodes.of_chain[outer], function = chains.function[i];
    const std::uint32_t file = chains.file[outer], line = chains.line[outer], column = chains.column[outer];
    const auto next = static_cast<std::uint32_t>(nodes.size());
    const std::uint64_t hash = mix64(hash_combine(
        hash_combine((std::uint64_t{parent} << 32) | function, (std::uint64_t{file} << 32) | line), column));
    const std::uint32_t node = known.find_or_add(hash, next, [&](std::uint32_t row) {
      return nodes.parent[row] == parent && nodes.function[row] == function && nodes.call_file[row] == file &&
             nodes.call_line[row] == line && nodes.call_column[row] == column;
    });
    nodes.of_chain[i] = node;
    if (node != next) continue;
    nodes.parent.push_back(parent);
    nodes.function.push_back(function);
    nodes.call_file.push_back(file);
    nodes.call_line.push_back(line);
    nodes.call_column.push_back(column);
  }
  return nodes;
}

}  // namespace profd
