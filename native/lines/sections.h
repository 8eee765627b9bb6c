// The sections of one file that hold DWARF.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "native/elf/expanded.h"
#include "native/elf/image.h"

namespace profd::native {

enum class DwarfKind : std::uint8_t { whole, split };  // split: the .dwo sections of a .dwo or .dwp file

struct DwarfSections {
  Bytes info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists, aranges;
  Bytes cu_index;  // of a package (.dwp): which parts of its sections are a unit's
  bool big_endian = false;
  std::vector<std::shared_ptr<const std::vector<std::uint8_t>>> owned;  // what was expanded
};

// A section that is not there or does not expand is empty; why it does not expand is added to `problems`.
DwarfSections dwarf_sections(const ElfImage& image, DwarfKind kind, ExpansionBudget& budget,
                             std::vector<std::string>& problems);

}  // namespace profd::native
