#include "server/feature/places.h"

#include <algorithm>
#include <cctype>

#include "server/engine/source_text.h"
#include "server/feature/names.h"

namespace profd {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
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

  // What is asked about is few of many: it is picked first and put in order then.
  const std::string wanted = lower(request.pattern);
  const bool placed = request.only_with_source || !request.only_in.empty();
  FlatView picked;
  StopToken token = stop;
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    if (token.check()) return fail(ErrorCode::cancelled, "cancelled");
    const Value& rank = request.sort == SortBy::total ? flat->total[row] : flat->self[row];
    if (as_double(rank) == 0) continue;
    const Key key = flat->key[row];
    if (placed) {
      const std::string* path = sources->file_of(key_place(profile, *selection.keys, key).file);
      if (path == nullptr || (!request.only_in.empty() && *path != request.only_in)) continue;
    }
    if (!wanted.empty() && lower(key_name(profile, *selection.keys, key)).find(wanted) == std::string::npos)
      continue;
    picked.key.push_back(key);
    picked.self.push_back(flat->self[row]);
    picked.total.push_back(flat->total[row]);
  }
  TableRequest first;
  first.sort = request.sort;
  first.limit = request.limit;
  const TablePage page = page_of(selection, picked, first);
  result.n_left_out = page.n_left_out;
  result.self_left_out = page.self_left_out;
  for (const std::uint32_t row : page.rows) {
    Place place;
    place.key = picked.key[row];
    place.name = key_name(profile, *selection.keys, place.key);
    place.short_name = short_name(place.name);
    const KeyPlace at = key_place(profile, *selection.keys, place.key);
    place.file = at.file;
    place.module = at.module;
    place.line = at.line;
    if (const std::string* path = sources->file_of(at.file))
      place.path = *path;
    else if (is_local_file(at.file))
      place.outside = at.file;
    const std::uint32_t frame = selection.keys->example[place.key];
    if (frame < profile.frames().size()) {
      place.kind = profile.frames().kind[frame];
      place.inlined = profile.frames().inlined[frame] != 0;
    }
    place.self = picked.self[row];
    place.total = picked.total[row];
    result.places.push_back(std::move(place));
  }
  return result;
}

}  // namespace profd
