// Session files: every stack with the time it took, in order.
#pragma once

#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::pyinstrument {

// `in` stands on frame_records. Adds the metric `time` and the samples.
Result<void> read_records(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::pyinstrument
