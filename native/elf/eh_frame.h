// Bounds of functions by .eh_frame, which stripped files keep.
#pragma once

#include <vector>

#include "native/elf/image.h"

namespace profd::native {

// What the entries of .eh_frame describe, sorted by begin; a function with a cold part has two. Empty ones
// are left out, the rest may overlap in hostile files. Where .eh_frame is not to be found by its section,
// through .eh_frame_hdr's segment.
std::vector<VaddrRange> frame_ranges(const ElfImage& image);

}  // namespace profd::native
