// The rows of a flat view whose names a search found.
#pragma once

#include "core/view/search.h"
#include "core/view/table.h"

namespace profd {

inline FlatView matching_rows(const FlatView& flat, const SearchResult& found) {
  FlatView matching;
  for (std::size_t row = 0; row < flat.key.size(); ++row) {
    if (found.matches[flat.key[row]] == 0) continue;
    matching.key.push_back(flat.key[row]);
    matching.self.push_back(flat.self[row]);
    matching.total.push_back(flat.total[row]);
  }
  return matching;
}

}  // namespace profd
