// The boxes of whole views by their path of names from the root, {}, as the oracle writes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/flame.h"
#include "core/view/column_tree.h"
#include "core/view/values.h"
#include "tests/support/oracle.h"

namespace profd::test {

// "all / main / read".
std::string show(const oracle::Path& path);

// Every box, however narrow. Of views with more than 5,000 boxes it is `truncated`.
Result<FlameLayout> whole_layout(const Selection& selection, Shape shape, const std::vector<Key>& focus = {});
// By box of a top-down layout: the total of another metric.
inline Result<std::vector<Value>> totals_of_boxes(const Selection& other, const FlameLayout& layout) {
  PROFD_TRY(BoxValues values,
            values_of_boxes(other, Shape::top_down, {}, {layout.parent, layout.key, layout.divided},
                            BoxValuesWanted::totals, {}));
  return std::move(values.total);
}
// By box of a layout without remainders.
std::vector<oracle::Path> paths_of(const Selection& selection, const FlameLayout& layout);
// By node; unfolds all of the tree.
std::vector<oracle::Path> paths_of(ColumnTree& tree);
// A key's name, as the first column that has it writes it.
std::string oracle_name(const Columns& columns, Key key);

// Boxes of one path are several where a collapsed group is called like a function: their sums. Paths where
// both are 0 are left out.
struct BoxSums {
  std::int64_t total = 0, self = 0;
  bool operator==(const BoxSums&) const = default;
};
using SumsByPath = std::map<oracle::Path, BoxSums>;

// Values times `scale`, rounded. Throws std::runtime_error where there is no such view.
SumsByPath sums_by_path(const Selection& selection, Shape shape, double scale = 1);
SumsByPath sums_by_path(const std::vector<PlainStack>& stacks, ViewSpec spec, Shape shape);
void drop_zeros(SumsByPath& sums);
// The first path that is not as expected, and how; "" when there is none.
std::string difference(const SumsByPath& found, const SumsByPath& expected);

}  // namespace profd::test
