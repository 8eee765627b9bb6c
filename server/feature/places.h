// The hottest functions or lines, as places to jump to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/views.h"
#include "server/feature/estimate.h"
#include "server/feature/view_answer.h"

namespace profd {

struct PlacesRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;  // granularity function or line; shape does not matter
  SortBy sort = SortBy::self;
  std::size_t limit = 50;
  bool only_with_source = false;
  std::string only_in;  // workspace path; "" anywhere
  std::string pattern;  // part of the name, any case; "" all
};

struct Place {
  Key key = 0;
  std::string name, short_name;
  std::string file, module;  // as the profile says; "" unknown
  std::uint32_t line = 0;    // 1-based, 0 unknown; see hot_places()
  std::string path;          // in the workspace; "" when not exactly one matches
  std::string outside;  // `file`, where no other is meant and it is on this machine; nobody opens it unasked
  FrameKind kind = FrameKind::native;
  bool inlined = false;
  Value self, total;
  bool total_estimated = false;
};
inline std::string total_text(const Place& place, const Whole& whole) {
  return marked(whole.text(place.total), place.total_estimated);
}
inline std::string total_share(const Place& place, const Whole& whole) {
  return marked(whole.share_text(place.total), place.total_estimated);
}

// `sources` null: no place is known in a workspace.
Place place_of(const Selection& selection, const SourceMap* sources, Key key, const Value& self,
               const Value& total, Estimate estimate);

Needs needs_of(const PlacesRequest& request);
struct Places {
  ViewHead head;
  SelectionPtr selection;
  Whole whole;
  std::vector<Place> places;
  std::optional<Remainder> remainder;  // the places after these: their self
};
// Where the profile knows no line of a place, and one would be jumped to: a function is at the line of it
// that costs most, a line at the beginning of its function.
Result<Places> hot_places(Views& views, const PlacesRequest& request, const StopToken& stop);

}  // namespace profd
