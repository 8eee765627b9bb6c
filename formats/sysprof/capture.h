// Binary captures: sysprof-capture-types.h of libsysprof-capture.
#pragma once

#include "formats/reader.h"

namespace profd::sysprof {

bool is_capture(std::span<const std::byte> prefix);
Result<void> read_capture(const ByteSource& source, ReadContext& context,
                          std::vector<ProfileBuilder>& profiles);

}  // namespace profd::sysprof
