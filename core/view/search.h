// Search: a regular expression over names, with an honest share: each stack counts once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/executor.h"
#include "core/view/selection.h"

namespace profd {

struct SearchResult {
  std::vector<std::uint8_t> matches;  // by Key
  std::size_t n_keys = 0;             // that match, whether or not a stack of the selection has them
  Value matched;                      // Σ self of the stacks that contain a match
  bool estimated = false;             // `matched` is an estimate
  std::size_t memory() const { return sizeof(SearchResult) + matches.size(); }
};
// RE2 syntax, case-insensitive unless the pattern has an upper-case letter (\S and \pL are not letters).
// Hidden frames do not match. `invalid` for a bad pattern, `limit` for one of more than 1,024 bytes.
Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop,
                            Executor& executor);

// Total of the stacks that pass through a frame with matches[FrameId] != 0, each counted once. Hidden frames
// are none. Big trees are summed in pieces side by side; sums of fractions do not depend on the executor.
Result<Value> matched_total(const Selection& selection, const std::vector<std::uint8_t>& matches,
                            StopToken stop, Executor& executor);

// The same for up to 255 sets of frames in one sweep: set_of[FrameId] is 0 for none, i + 1 for the i-th.
Result<std::vector<Value>> matched_totals(const Selection& selection, const std::vector<std::uint8_t>& set_of,
                                          std::size_t n_sets, StopToken stop, Executor& executor);

// Makes ahead of time what the first search would wait for: the names as one text and memory for marks.
void prepare_search(const Selection& selection, Executor& executor);

// On the calling thread alone.
inline Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop) {
  SerialExecutor serial;
  return search(selection, pattern, std::move(stop), serial);
}
inline Result<Value> matched_total(const Selection& selection, const std::vector<std::uint8_t>& matches,
                                   StopToken stop) {
  SerialExecutor serial;
  return matched_total(selection, matches, std::move(stop), serial);
}
inline Result<std::vector<Value>> matched_totals(const Selection& selection,
                                                 const std::vector<std::uint8_t>& set_of, std::size_t n_sets,
                                                 StopToken stop) {
  SerialExecutor serial;
  return matched_totals(selection, set_of, n_sets, std::move(stop), serial);
}

}  // namespace profd
