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
// `name`: goes the whole way, so that `named` is where the entry is declared.
enum class NamesWanted : std::uint8_t { all, name };
FunctionNames names_of(EntryRef entry, NamesWanted wanted = NamesWanted::all);

// Whether names in this unit have parents at all: not in C, nor where names are whole (Go).
bool has_qualified_names(const Unit& unit);

// What stands before the name of each of these entries, "a::b::" or "": the names of what they are declared
// in. One pass over each of their units, and over those that these parents in turn are declared in.
std::vector<std::string> prefixes_of(std::span<const EntryRef> named);

}  // namespace profd::native
