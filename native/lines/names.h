// Names of functions, through the entries that theirs are copies or definitions of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "native/lines/units.h"

namespace profd::native {

inline constexpr unsigned kMaxHops = 16;  // abstract_origin and specification

struct FunctionNames {
  std::string_view linkage;           // "" where there is none
  std::string_view name;              // without parents; "" where there is none
  EntryRef named;                     // the last entry of the way: its parents qualify the name
  const Unit* declared_in = nullptr;  // whose files `file` counts; null where no place is stated
  std::uint64_t file = 0;
  std::uint32_t line = 0;
};
FunctionNames names_of(EntryRef entry);

// Whether names in this unit have parents at all: not in C, nor where names are whole (Go).
bool has_qualified_names(const Unit& unit);

// For entries of one unit, sorted by place: what stands before their names, "a::b::" or "". One pass over the
// unit.
std::vector<std::string> parents_of(const Unit& unit, std::span<const std::uint64_t> at);

}  // namespace profd::native
