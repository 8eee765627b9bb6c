#include "server/feature/exclusion.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {

std::string exclusion_text(const Selection& selection) {
  if (selection.rows->excluded.empty()) return "";
  const Value& amount = selection.rows->excluded[selection.metric().v];
  if (as_double(amount) == 0) return "";
  std::string what;
  const auto is_used = [&](FilterBy by) {
    return std::any_of(selection.rows->filters.begin(), selection.rows->filters.end(),
                       [&](const Filter& filter) { return filter.by == by; });
  };
  // A marker runs in a thread, for a time.
  const bool by_marker = is_used(FilterBy::marker);
  const auto add = [&](FilterBy by, const char* name) {
    if (is_used(by) || (by_marker && by != FilterBy::label))
      what += (what.empty() ? "" : " or ") + std::string(name);
  };
  add(FilterBy::thread, "thread");
  add(FilterBy::label, "labels");
  add(FilterBy::time, "time");
  const std::string& unit = selection.profile->metrics()[selection.metric().v].unit;
  return fmt::format("{} · {} of the profile has no {}: the filters leave it out", format_value(amount, unit),
                     format_share(amount, selection.sums->profile_total), what);
}

}  // namespace profd
