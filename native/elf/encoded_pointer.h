// Pointers as tables of call frames write them: an encoding (DW_EH_PE_*) says the width and what they count
// from.
#pragma once

#include <cstdint>
#include <optional>

#include "native/elf/bytes.h"

namespace profd::native {

inline constexpr unsigned kPointerOmitted = 0xff;

// Bytes of one; 0 where that is not fixed.
unsigned pointer_width(unsigned encoding, bool is_64);

// The pointer at the cursor, which counts from the start of a section that is loaded at `section_vaddr`.
// Nothing where the encoding needs more than the section (indirect, relative to other sections), or the bytes
// end.
std::optional<std::uint64_t> encoded_pointer(ByteReader& in, std::uint64_t section_vaddr, bool is_64,
                                             unsigned encoding);
// Behind it.
void skip_pointer(ByteReader& in, bool is_64, unsigned encoding);

}  // namespace profd::native
