// Search: a regular expression over names, with an honest share: each stack counts once.
#pragma once

#include <string_view>
#include <vector>

#include "core/view/selection.h"

namespace profd {

struct SearchResult {
  std::vector<std::uint8_t> matches;  // by Key
  std::size_t n_keys = 0;             // that match
  Value matched;                      // Σ self of the stacks that contain a match
};
// RE2 syntax, case-insensitive unless the pattern has an upper-case letter. `invalid` for a bad pattern.
Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop);

}  // namespace profd
