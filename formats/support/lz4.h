// LZ4 frames, any number of them one after another, skippable ones skipped.
#pragma once

#include "formats/support/expansion.h"

namespace profd {

bool is_lz4(std::span<const std::byte> bytes);
Result<Expanded> unlz4(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report);

}  // namespace profd
