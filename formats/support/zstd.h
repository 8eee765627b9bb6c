// Zstandard (RFC 8878), any number of frames one after another, skippable ones skipped.
#pragma once

#include "formats/support/expansion.h"

namespace profd {

bool is_zstd(std::span<const std::byte> bytes);
Result<Expanded> unzstd(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report);

}  // namespace profd
