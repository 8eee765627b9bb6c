// MatchMarks: where the boxes that match a search lie in the context tree, a bit a context. What is narrower
// than a pixel is never unfolded; the marks say all the same how much of it matches and where to go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/support/big_vector.h"
#include "core/support/executor.h"
#include "core/view/search.h"
#include "core/view/selection.h"

namespace profd {

struct MatchMarks {
  std::shared_ptr<const SearchResult> found;
  BigVector<std::uint64_t> starts;         // the context starts a box that matches
  std::vector<std::uint64_t> at_or_above;  // its box or one above it does; empty unless asked for
  bool none = false;                       // no box matches
  // Where totals are whole numbers that are not negative, and nothing is needed of what lies above: what the
  // outermost matches before each block of contexts come to, and where in the block it goes on behind what
  // lies inside of one of them. Else empty.
  static constexpr std::uint32_t kBlock = 512;
  std::vector<std::int64_t> sum_before;
  std::vector<std::uint32_t> outside_from;

  [[nodiscard]] bool matches(Key key) const { return found->matches[key] != 0; }
  [[nodiscard]] bool starts_at(std::uint32_t context) const {
    return (starts[context / 64] >> (context % 64) & 1u) != 0;
  }
  // The first that starts a match in [from, end), `end` when there is none.
  [[nodiscard]] std::uint32_t next(std::uint32_t from, std::uint32_t end) const;
  // Adds to each sum what the matches below its contexts come to, the outermost of each stack. `inside`: a
  // match is at or above each of the contexts, else none is. Sums are parts when stopped.
  struct Below {
    std::uint32_t context, sum;
  };
  template <class T>
  void sum_below(const ContextTree& tree, const Column<T>& totals, std::span<const Below> contexts,
                 bool inside, std::span<T> sums, StopToken& stop) const;
  [[nodiscard]] bool is_at_or_above(std::uint32_t context) const {
    return (at_or_above[context / 64] >> (context % 64) & 1u) != 0;
  }
  [[nodiscard]] std::size_t memory() const {
    return sizeof(MatchMarks) +
           (starts.size() + at_or_above.size() + sum_before.size()) * sizeof(std::uint64_t) +
           outside_from.size() * sizeof(std::uint32_t);
  }
};

// `found` is of the selection. What lies above a context is needed for bottom-up and callers alone.
Result<MatchMarks> mark_matches(const Selection& selection, std::shared_ptr<const SearchResult> found,
                                bool above, const StopToken& stop, Executor& executor);

}  // namespace profd
