// The stacks of Scalene's files, which are kept beside the lines: Python and native frames with their
// samples, Python stacks with their times, and stacks that took memory.
#pragma once

#include <optional>

#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::scalene {

struct StackPlaces {
  std::optional<std::uint64_t> stacks, combined, timeline, memory;  // offsets of the arrays, at depth 1
};

// One profile for each array that holds something.
Result<void> read_stacks(const JsonCursor& document, const StackPlaces& places, ReadContext& context,
                         std::vector<ProfileBuilder>& profiles);

}  // namespace profd::scalene
