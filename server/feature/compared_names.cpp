#include "server/feature/compared_names.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/view/values.h"
#include "server/engine/match_text.h"
#include "server/feature/changes.h"
#include "server/feature/text.h"

namespace profd {
namespace {

std::vector<std::string> names_of(const Selection& selection, const std::vector<Key>& keys) {
  std::vector<std::string> out;
  for (const Key key : keys) {
    if (out.size() == kMostShiftNames) break;
    out.push_back(key_name(*selection.profile, *selection.boxes->keys, key));
  }
  return out;
}

std::string listed_names(const std::vector<std::string>& names, std::size_t n) {
  constexpr std::size_t kNamed = 3;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     n > first.size() ? fmt::format(" and {} more", n - first.size()) : "");
}

}  // namespace

std::vector<SuggestedRename> suggested_renames(const Matching& matching) {
  std::vector<SuggestedRename> out;
  for (const Suggestion& pair : matching.suggested) {
    if (out.size() == kMostSuggested) break;
    out.push_back({pair.before_name, pair.after_name, reason_of(pair), pair.share,
                   format_share(pair.share, 1.0), rename_of(pair)});
  }
  return out;
}

Result<std::vector<ShiftText>> shift_texts(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                           const PreparedView& view, const MovedCosts& moved,
                                           const StopToken& stop) {
  std::vector<ShiftText> out;
  const auto sides = sides_of(*open.profile, view.selection->metric());
  if (!sides) return out;
  for (const MovedCost& cost : moved.costs) {
    if (out.size() == kMostShifts) break;
    std::vector<Key> keys = cost.from;
    keys.insert(keys.end(), cost.to.begin(), cost.to.end());
    std::vector<std::vector<Value>> selfs;
    for (const MetricId side : {sides->before, sides->after}) {
      ViewSpec of_side = spec;
      of_side.metric = open.profile->metrics()[side.v].name;
      PROFD_TRY(KeyValues values, views.key_values(open, of_side, keys, stop));
      selfs.push_back(std::move(values.self));
    }
    double gained = 0, before = 0, after = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      before += as_double(selfs[0][i]);
      after += as_double(selfs[1][i]);
      if (i >= cost.from.size()) gained += as_double(selfs[1][i]) - as_double(selfs[0][i]);
    }
    const bool whole = std::holds_alternative<std::int64_t>(view.selection->sums->total);
    const Value amount = whole ? Value(static_cast<std::int64_t>(gained)) : Value(gained);
    ShiftText text{names_of(*view.selection, cost.from), names_of(*view.selection, cost.to), {}};
    text.text = fmt::format("{} moved from {} to {}, net {:+.1f} %", format_value(amount, view.whole.unit),
                            listed_names(text.from, cost.from.size()), listed_names(text.to, cost.to.size()),
                            before == 0 ? 0.0 : (after - before) / before * 100);
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace profd
