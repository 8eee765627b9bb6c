// Caliper's JSON: json-split (data, columns, nodes) and plain records.
#pragma once

#include "formats/caliper/table.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"

namespace profd::caliper {

Confidence sniff_json(const JsonKeys& keys, bool at_end);
Result<void> read_json(JsonCursor in, ReadContext& context, ProfileBuilder& builder, Table& table);

}  // namespace profd::caliper
