// Which unit has the code at an address.
#pragma once

#include <cstdint>
#include <vector>

#include "native/elf/image.h"
#include "native/lines/units.h"

namespace profd::native {

class UnitMap {
 public:
  UnitMap() = default;
  // By what each unit states of itself, else by .debug_aranges, else by the sequences of its line table. Of
  // units that overlap the one whose range begins last has the address. Ranges that begin outside of `code`
  // were thrown away by the linker.
  UnitMap(const DwarfFile& file, const std::vector<VaddrRange>& code);

  struct Part {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t unit = 0;  // of the file's units
  };
  const std::vector<Part>& parts() const { return parts_; }  // disjoint, sorted

 private:
  std::vector<Part> parts_;
};

}  // namespace profd::native
