#include "server/dialect/psp/prepared.h"

#include <fmt/format.h>

#include "server/feature/exclusion.h"

namespace profd {

Result<Prepared> prepare_view(Views& views, const OpenProfile& open, const ViewSpec& spec,
                              const StopToken& stop) {
  Prepared result;
  PROFD_TRY(result.selection, views.selection(open, spec, stop));
  const Selection& selection = *result.selection;
  const std::string& unit = open.profile->metrics()[selection.metric.v].unit;
  result.whole = {selection.total, unit};
  result.profile_whole = {selection.profile_total, unit};
  for (const std::string& name : spec.focus) {
    const std::vector<Key> keys = find_keys(*open.profile, *selection.keys, name);
    if (keys.empty())
      return fail(ErrorCode::not_found, fmt::format("no {} is called {}", to_text(spec.granularity), name));
    if (keys.size() > 1)
      return fail(ErrorCode::invalid,
                  fmt::format("{} names {} different ones; keep one with a file or module filter", name,
                              keys.size()));
    result.focus.push_back(keys.front());
  }
  return result;
}

Result<std::vector<Key>> to_keys(const std::vector<std::int64_t>& path, const Selection& selection) {
  std::vector<Key> keys;
  for (const std::int64_t key : path) {
    if (key < 0 || static_cast<std::uint64_t>(key) >= selection.keys->n_keys())
      return fail(ErrorCode::not_found, fmt::format("the path has a key {} that the view has not", key));
    keys.push_back(static_cast<Key>(key));
  }
  return keys;
}

bool has_source(const SourceMap& sources, const Selection& selection, Key key) {
  return sources.file_of(key_place(*selection.profile, *selection.keys, key).file) != nullptr;
}

std::optional<std::string> said(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<psp::Exclusion> exclusion_of(const Selection& selection) {
  if (selection.excluded.empty()) return std::nullopt;
  const Value& amount = selection.excluded[selection.metric.v];
  if (as_double(amount) == 0) return std::nullopt;
  const MetricInfo& metric = selection.profile->metrics()[selection.metric.v];
  const Whole whole{selection.profile_total, metric.unit};
  return psp::Exclusion{to_amount(whole, amount), exclusion_text(selection)};
}

}  // namespace profd
