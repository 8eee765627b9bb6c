// The two layouts of pyinstrument that hold a tree: `-r json`, and the data of its HTML page.
#pragma once

#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::pyinstrument {

// `in` stands on the root frame. Adds the metric `time` and its values.
Result<void> read_tree(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::pyinstrument
