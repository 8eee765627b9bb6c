#include "core/view/columns.h"

#include <algorithm>
#include <utility>

#include "core/view/table.h"

namespace profd {

Result<Columns> columns_of(std::vector<SelectionPtr> selections) {
  if (selections.empty()) return fail(ErrorCode::invalid, "there is no column");
  for (const SelectionPtr& selection : selections)
    if (!same_boxes(*selection, *selections[0]))
      return fail(ErrorCode::invalid, "columns of other boxes are no columns of one table");
  return Columns{std::move(selections), nullptr, {}};
}

Columns columns_of(const ComparisonPtr& comparison) {
  return {{comparison->sides.begin(), comparison->sides.end()},
          std::shared_ptr<const JointKeys>(comparison, &comparison->joint),
          {0, 1}};
}

Result<ColumnRows> flat_columns(const Columns& columns, const StopToken& stop) {
  std::vector<FlatView> views;
  std::vector<std::uint32_t> row_of(columns.n_keys(), kNone);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    PROFD_TRY(FlatView view, flat_view(*columns.of[c], stop));
    for (const Key own : view.key) row_of[columns.key_of(c, own)] = 0;
    views.push_back(std::move(view));
  }
  ColumnRows out;
  for (Key key = 0; key < row_of.size(); ++key) {
    if (row_of[key] == kNone) continue;
    row_of[key] = static_cast<std::uint32_t>(out.key.size());
    out.key.push_back(key);
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    auto& self = out.self.emplace_back(out.key.size(), columns.zero(c));
    auto& total = out.total.emplace_back(out.key.size(), columns.zero(c));
    auto& present = out.present.emplace_back(out.key.size(), 0);
    for (std::size_t i = 0; i < views[c].key.size(); ++i) {
      const std::uint32_t row = row_of[columns.key_of(c, views[c].key[i])];
      self[row] = views[c].self[i];
      total[row] = views[c].total[i];
      present[row] = 1;
    }
  }
  return out;
}

}  // namespace profd
