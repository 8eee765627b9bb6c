#include "server/feature/places.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

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

// Of a profile without lines (cProfile) a line is a function, and stands where that begins.
void take_beginnings(const Selection& selection, std::vector<Place>& places) {
  const Profile& profile = *selection.profile;
  for (Place& place : places) {
    const std::uint32_t frame = selection.boxes->keys->example[place.key];
    if (place.line != 0 || frame >= profile.frames().size()) continue;
    const FunctionId function = profile.frames().function[frame];
    if (function.valid()) place.line = profile.functions().start_line[function.v];
  }
}

// Samplers of Python write the lines that ran and none that a function begins on. Who jumps to such a
// function comes to the line of it that costs most.
Result<void> take_hottest_lines(Views& views, const PlacesRequest& request, const StopToken& stop,
                                std::vector<Place>& places) {
  struct Hottest {
    double self = -1;
    std::uint32_t line = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, Hottest> wanted;
  for (const Place& place : places)
    if (place.line == 0 && !place.file.empty()) wanted[{place.file, place.name}];
  if (wanted.empty()) return {};
  ViewSpec lines = request.spec;
  lines.granularity = Granularity::line;
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, lines, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, lines, stop));
  const Profile& profile = *view.selection->profile;
  const KeyTable& keys = *view.selection->boxes->keys;
  StopToken token = stop;
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    if (token.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t frame = keys.example[flat->key[row]];
    if (frame >= profile.frames().size()) continue;
    const FunctionId function = profile.frames().function[frame];
    if (!function.valid()) continue;
    const KeyPlace at = key_place(profile, keys, flat->key[row]);
    const auto found = wanted.find({at.file, profile.function_name(function)});
    const double self = std::abs(as_double(flat->self[row]));
    if (at.line == 0 || found == wanted.end() || self <= found->second.self) continue;
    found->second = {self, at.line};
  }
  for (Place& place : places)
    if (place.line == 0)
      if (const auto found = wanted.find({place.file, place.name}); found != wanted.end())
        place.line = found->second.line;
  return {};
}

}  // namespace

Place place_of(const Selection& selection, const SourceMap* sources, Key key, const Value& self,
               const Value& total, Estimate estimate) {
  const Profile& profile = *selection.profile;
  Place place;
  place.key = key;
  place.name = key_name(profile, *selection.boxes->keys, key);
  place.short_name = short_name(place.name);
  const KeyPlace at = key_place(profile, *selection.boxes->keys, key);
  place.file = at.file;
  place.module = at.module;
  place.line = at.line;
  if (const std::string* path = sources != nullptr ? sources->file_of(at.file) : nullptr)
    place.path = *path;
  else if (sources != nullptr && is_local_file(at.file))
    place.outside = at.file;
  const std::uint32_t frame = selection.boxes->keys->example[key];
  if (frame < profile.frames().size()) {
    place.kind = profile.frames().kind[frame];
    place.inlined = profile.frames().inlined[frame] != 0;
  }
  place.self = self;
  place.total = total;
  place.total_estimated = (estimate & kTotalEstimated) != 0;
  return place;
}

Needs needs_of(const PlacesRequest& request) {
  return needs_of_table(request.spec);
}

Result<Places> hot_places(Views& views, const PlacesRequest& request, const StopToken& stop) {
  Places result;
  PROFD_TRY(PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  result.head = head_of(*request.open, request.spec, view);
  result.selection = std::move(view.selection);
  result.whole = std::move(view.whole);
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  const Selection& selection = *result.selection;
  const Profile& profile = *selection.profile;

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
      const std::string* path = sources->file_of(key_place(profile, *selection.boxes->keys, key).file);
      if (path == nullptr || (!request.only_in.empty() && *path != request.only_in)) continue;
    }
    if (!wanted.empty() &&
        lower(key_name(profile, *selection.boxes->keys, key)).find(wanted) == std::string::npos)
      continue;
    picked.add_row(*flat, row);
  }
  TableRequest first;
  first.sort = request.sort;
  first.limit = request.limit;
  const TablePage page = page_of(selection, picked, first);
  if (page.n_left_out > 0)
    result.remainder = remainder_of(result.whole, page.n_left_out, page.self_left_out, page.rows.size());
  for (const std::uint32_t row : page.rows) {
    result.places.push_back(place_of(selection, sources.get(), picked.key[row], picked.self[row],
                                     picked.total[row], picked.estimate_of(row)));
  }
  if (request.spec.granularity == Granularity::line) take_beginnings(selection, result.places);
  if (request.spec.granularity == Granularity::function)
    PROFD_CHECK(take_hottest_lines(views, request, stop, result.places));
  return result;
}

}  // namespace profd
