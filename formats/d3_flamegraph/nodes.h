// The tree of a d3-flame-graph file, in columns; a node's parent has a smaller number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::d3 {

struct Nodes {
  std::vector<std::uint32_t> parent;  // kNone for roots
  std::vector<StringId> name, kind;   // kind: of `libtype`
  std::vector<double> value, delta;
  std::vector<std::int64_t> whole_value, whole_delta;  // exact, where the numbers are whole
  std::vector<std::uint8_t> has_value;
  std::vector<std::uint64_t> offset;
  bool fractional = false, has_delta = false;
  std::uint64_t n_other_keys = 0, n_negative = 0;

  std::size_t size() const { return parent.size(); }
};

// The tree at the cursor, or an array of trees.
Result<Nodes> read_nodes(JsonCursor& in, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::d3
