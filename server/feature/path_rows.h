// A tree as a list: a row a path of boxes, each with what several metrics come to there. For commands and
// scripts, who want all of it; clients ask for levels (table_answer.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/view/values.h"
#include "server/feature/table_answer.h"

namespace profd {

struct PathRowsRequest {
  OpenProfilePtr open;
  ViewSpec spec;                     // any shape but flat
  std::vector<std::string> metrics;  // by name; at least one. Paths are those that any of them has
  std::size_t limit = 100;
  // Of diffs, whose `metrics` are those of both sides, before first: by change, without what did not change.
  std::optional<ChangeOrder> by_change;
};

// Rows are in order of what changed, else of the largest share that a metric has. `rows.self` and
// `rows.total` are of the last metric.
struct PathRows : TableAnswer {
  std::vector<BoxValues> values;  // by metric, by row
  // The tree: boxes with their parents, 0 the root, and which of them each row is.
  std::vector<std::uint32_t> parent, box_of_row;
  std::vector<Key> key;
  std::unordered_map<Key, std::string> name_of;  // of all keys on paths of rows

  // Root first, the row's own name last. Valid as long as the answer.
  [[nodiscard]] std::vector<std::string_view> path_of(std::size_t row) const;
};
// Fails with `invalid` for the flat shape.
Result<PathRows> path_rows(Views& views, const PathRowsRequest& request, const StopToken& stop);

}  // namespace profd
