// gzip (RFC 1952), any number of members one after another.
#pragma once

#include "formats/support/expansion.h"

namespace profd {

bool is_gzip(std::span<const std::byte> bytes);
Result<Expanded> gunzip(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report);

}  // namespace profd
