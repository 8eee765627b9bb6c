// OTLP/JSON: the same messages, transcoded to the bytes the binary form has.
#pragma once

#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd::otlp {

// One ProfilesData object in the layout of 1.10. `text` is stepped over it, so that JSON lines are read one
// after another.
Result<std::string> from_json(std::string_view& text, std::uint32_t max_depth, std::uint64_t base);

}  // namespace profd::otlp
