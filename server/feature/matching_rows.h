// The rows of a flat view whose names a search found.
#pragma once

#include "core/view/search.h"
#include "core/view/table.h"

namespace profd {

inline FlatView matching_rows(const FlatView& flat, const SearchResult& found) {
  FlatView matching;
  for (std::size_t row = 0; row < flat.key.size(); ++row) {
    if (found.matches[flat.key[row]] != 0) matching.add_row(flat, row);
  }
  return matching;
}

}  // namespace profd
