// bzip2, any number of streams one after another.
#pragma once

#include "formats/support/expansion.h"

namespace profd {

bool is_bzip2(std::span<const std::byte> bytes);
Result<Expanded> unbzip2(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report);

}  // namespace profd
