// The body of a callgrind file.
#pragma once

#include <string_view>

#include "formats/callgrind/header.h"
#include "formats/reader.h"

namespace profd::callgrind {

Result<void> read_body(std::string_view text, std::size_t base, const Survey& survey, ReadContext& context,
                       ProfileBuilder& builder);

}  // namespace profd::callgrind
