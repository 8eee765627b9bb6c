// What `node --prof-process --preprocess` makes of a V8 log: JSON with the ticks resolved to codes.
#pragma once

#include <span>
#include <vector>

#include "formats/reader.h"

namespace profd::v8log {

bool is_preprocessed(std::span<const std::byte> prefix);
Result<void> read_preprocessed(std::string_view text, std::size_t base, ReadContext& context,
                               std::vector<ProfileBuilder>& profiles);

}  // namespace profd::v8log
