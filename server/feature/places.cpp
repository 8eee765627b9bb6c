#include "server/feature/places.h"

#include <algorithm>
#include <cctype>

#include "core/support/checked.h"
#include "server/feature/names.h"

namespace profd {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

void add(Value& sum, const Value& value) {
  if (auto* integer = std::get_if<std::int64_t>(&sum))
    if (const auto* other = std::get_if<std::int64_t>(&value)) {
      add_saturating(*integer, *other);
      return;
    }
  sum = as_double(sum) + as_double(value);
}

}  // namespace

Result<Places> hot_places(Views& views, const PlacesRequest& request, const StopToken& stop) {
  Places result;
  PROFD_TRY(result.selection, views.selection(*request.open, request.spec, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  const Selection& selection = *result.selection;
  const Profile& profile = *selection.profile;
  result.whole = {selection.total, profile.metrics()[selection.metric.v].unit};
  result.self_left_out = std::visit([](auto v) { return Value(decltype(v){}); }, selection.total);

  const std::string wanted = lower(request.pattern);
  TableRequest everything;
  everything.sort = request.sort;
  everything.limit = flat->key.size();
  StopToken token = stop;
  for (const std::uint32_t row : page_of(selection, *flat, everything).rows) {
    if (token.check()) return fail(ErrorCode::cancelled, "cancelled");
    const Value& rank = request.sort == SortBy::total ? flat->total[row] : flat->self[row];
    if (as_double(rank) == 0) continue;
    const Key key = flat->key[row];
    const KeyPlace at = key_place(profile, *selection.keys, key);
    const std::string* path = sources->file_of(at.file);
    if (path == nullptr && (request.only_with_source || !request.only_in.empty())) continue;
    if (!request.only_in.empty() && *path != request.only_in) continue;
    const bool full = result.places.size() >= request.limit;
    if (full && wanted.empty()) {
      ++result.n_left_out;
      add(result.self_left_out, flat->self[row]);
      continue;
    }
    Place place;
    place.name = key_name(profile, *selection.keys, key);
    if (!wanted.empty() && lower(place.name).find(wanted) == std::string::npos) continue;
    if (full) {
      ++result.n_left_out;
      add(result.self_left_out, flat->self[row]);
      continue;
    }
    place.key = key;
    place.short_name = short_name(place.name);
    place.file = at.file;
    place.module = at.module;
    place.line = at.line;
    if (path != nullptr) place.path = *path;
    const std::uint32_t frame = selection.keys->example[key];
    if (frame < profile.frames().size()) {
      place.kind = profile.frames().kind[frame];
      place.inlined = profile.frames().inlined[frame] != 0;
    }
    place.self = flat->self[row];
    place.total = flat->total[row];
    result.places.push_back(std::move(place));
  }
  return result;
}

}  // namespace profd
