#include "server/feature/exclusion.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {

std::string exclusion_text(const Selection& selection) {
  if (selection.excluded.empty()) return "";
  const Value& amount = selection.excluded[selection.metric.v];
  if (as_double(amount) == 0) return "";
  std::string what;
  const auto add = [&](FilterBy by, const char* name) {
    const bool used = std::any_of(selection.row_filters.begin(), selection.row_filters.end(),
                                  [&](const Filter& filter) { return filter.by == by; });
    if (used) what += (what.empty() ? "" : " or ") + std::string(name);
  };
  add(FilterBy::thread, "thread");
  add(FilterBy::label, "labels");
  add(FilterBy::time, "time");
  const std::string& unit = selection.profile->metrics()[selection.metric.v].unit;
  return fmt::format("{} · {} of the profile has no {}: the filters leave it out", format_value(amount, unit),
                     format_share(amount, selection.profile_total), what);
}

}  // namespace profd
