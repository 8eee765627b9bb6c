// Markers in a table: those that pass a view and a search, one a row or one row for all of a name.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/view/marker_search.h"
#include "core/view/markers.h"
#include "core/view/passing.h"

namespace profd {

struct MarkerQuery {
  MarkerSearch search = {};
  std::int64_t min_length = 0;                     // nanoseconds
  std::optional<std::int64_t> from = {}, to = {};  // only what reaches into the window
};

// What passed, by id, ascending.
struct FoundMarkers {
  std::vector<std::uint32_t> ids;
  std::int64_t length = 0;  // of all whose end is known, together; no more than fits
  std::uint64_t n_open = 0;
};
// `last`: where what has no end ends. Null `passes`: everything does.
Result<FoundMarkers> find_markers(const Profile& profile, const Markers& markers, const MarkerQuery& query,
                                  const Moments& passes, std::int64_t last, StopToken stop);

enum class MarkerOrder : std::uint8_t { begin, length, name, category, thread, count, mean, most };

// Puts the first `n` of the order first; of equal ones the earlier in time, then the smaller id. Of the
// orders those of markers; another is by begin.
void sort_markers(const Profile& profile, const Markers& markers, std::vector<std::uint32_t>& ids,
                  MarkerOrder order, bool descending, std::size_t n, std::int64_t last);

// All that passed of one name and category.
struct MarkerGroup {
  StringId name, category;
  std::uint64_t count = 0;
  std::int64_t first = 0;   // when the first one began
  std::int64_t length = 0;  // of those that took time and whose end is known, together; no more than fits
  std::int64_t most = 0;
  std::uint64_t n_long = 0;  // how many those are
  [[nodiscard]] double mean() const {
    return n_long == 0 ? 0 : static_cast<double>(length) / static_cast<double>(n_long);
  }
};
// In the order asked for; by thread is by name.
Result<std::vector<MarkerGroup>> group_markers(const Profile& profile, const Markers& markers,
                                               const std::vector<std::uint32_t>& ids, MarkerOrder order,
                                               bool descending, StopToken stop);

}  // namespace profd
