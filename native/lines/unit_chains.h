// Chains of the addresses that lie in one unit.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "native/lines/chain_table.h"
#include "native/lines/symbol_map.h"
#include "native/lines/units.h"

namespace profd::native {

// Functions that inlined calls of any unit are copies of, by entry; kept from unit to unit.
struct KnownFunctions {
  std::unordered_map<const DwarfFile*, std::unordered_map<std::uint64_t, std::uint32_t>> rows;
};

struct UnitQuestion {
  const Unit* unit = nullptr;     // whose line table it is
  const Unit* entries = nullptr;  // the same, or the split unit that has the functions
  std::uint64_t code_begin = 0;
  bool folds_clones = true;
};

struct Answer {
  std::uint32_t link = 0;
  std::uint32_t piece = 0;
};

// One answer for each of `asked`, which is sorted.
std::vector<Answer> unit_chains(const UnitQuestion& question, std::span<const std::uint64_t> asked,
                                const SymbolMap& symbols, KnownFunctions& known, ChainTable& table);

// The same by symbols alone.
Answer symbol_chain(std::uint64_t vaddr, bool folds_clones, const SymbolMap& symbols, ChainTable& table);

}  // namespace profd::native
