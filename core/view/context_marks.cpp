#include "core/view/context_marks.h"

#include <algorithm>

namespace profd {

// Every task marks a share of the tree; where that begins in each list is looked up.
void mark_contexts(const std::vector<ContextList>& lists, const ContextTree& tree,
                   const std::vector<std::uint8_t>& keep, std::span<std::uint64_t> words,
                   const StopToken& stop, Executor& executor) {
  const std::size_t n_words = words.size();
  // More would look up more than they mark: some patterns match thousands of functions.
  const std::size_t n_shares = std::min(executor.width(), 4u);
  executor.run(n_shares, [&](std::size_t share) {
    const std::size_t first = n_words * share / n_shares, last = n_words * (share + 1) / n_shares;
    std::uint64_t* const map = words.data();
    std::fill(map + first, map + last, 0);
    for (const ContextList& list : lists) {
      if (stop.stop_requested()) return;
      const auto at = [&](std::size_t word) {
        return word == 0         ? list.contexts.begin()
               : word == n_words ? list.contexts.end()
                                 : std::lower_bound(list.contexts.begin(), list.contexts.end(), word * 64);
      };
      const std::span<const std::uint32_t> contexts(at(first), at(last));
      if (list.whole) {
        for (const std::uint32_t c : contexts) map[c / 64] |= std::uint64_t{1} << (c % 64);
      } else {
        for (const std::uint32_t c : contexts)
          if (keep[tree.frame[c]] != 0) map[c / 64] |= std::uint64_t{1} << (c % 64);
      }
    }
  });
}

}  // namespace profd
