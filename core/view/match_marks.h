// MatchMarks: where the boxes that match a search lie in the context tree, a bit a context. What is narrower
// than a pixel is never unfolded; the marks say all the same how much of it matches and where to go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/support/executor.h"
#include "core/view/search.h"
#include "core/view/selection.h"

namespace profd {

struct MatchMarks {
  std::shared_ptr<const SearchResult> found;
  std::vector<std::uint64_t> starts;       // the context starts a box that matches and has a value
  std::vector<std::uint64_t> at_or_above;  // its box or one above it does; empty unless asked for

  [[nodiscard]] bool matches(Key key) const { return found->matches[key] != 0; }
  // The first that starts a match in [from, end), `end` when there is none.
  [[nodiscard]] std::uint32_t next(std::uint32_t from, std::uint32_t end) const;
  [[nodiscard]] bool is_at_or_above(std::uint32_t context) const {
    return (at_or_above[context / 64] >> (context % 64) & 1u) != 0;
  }
  [[nodiscard]] std::size_t memory() const {
    return sizeof(MatchMarks) + (starts.size() + at_or_above.size()) * sizeof(std::uint64_t);
  }
};

// `found` is of the selection. What lies above a context is needed for bottom-up and callers alone.
Result<MatchMarks> mark_matches(const Selection& selection, std::shared_ptr<const SearchResult> found,
                                bool above, const StopToken& stop, Executor& executor);

}  // namespace profd
