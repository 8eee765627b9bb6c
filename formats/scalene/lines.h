// The lines of Scalene's files: what each took of the processor and of memory.
#pragma once

#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::scalene {

// `in` stands on the object `files`. Adds metrics and values.
Result<void> read_lines(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::scalene
