// xz (not the older .lzma), any number of streams one after another.
#pragma once

#include "formats/support/expansion.h"

namespace profd {

bool is_xz(std::span<const std::byte> bytes);
Result<Expanded> unxz(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report);

}  // namespace profd
