#include "core/view/match_marks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/view/context_marks.h"
#include "core/view/key_index.h"
#include "core/view/key_memo.h"

namespace profd {
namespace {

constexpr std::size_t kWordsOfTask = std::size_t{1} << 13;
// Columns are far apart in memory: each step is taken for so many contexts, with what the next one reads on
// its way meanwhile.
constexpr std::size_t kBatch = 32;

// Those of the keys that match, where somebody has indexed them.
Result<bool> look_up(const Selection& s, MatchMarks& marks, StopToken stop, Executor& executor) {
  if (!s.boxes->memo->has_key_index()) return false;
  PROFD_TRY(const auto index, s.boxes->memo->key_index(*s.boxes, true, stop));
  std::vector<ContextList> lists;
  for (Key key = 0; key < marks.found->matches.size(); ++key)
    if (marks.matches(key)) lists.push_back({index->of(key), true});
  mark_contexts(lists, s.profile->tree(), {}, {marks.starts.data(), marks.starts.size()}, stop, executor);
  return true;
}

// One bit for each context of a word.
std::uint64_t starts_in(const Selection& s, const std::vector<std::uint8_t>& of_frame, std::uint32_t first) {
  const ContextTree& tree = s.profile->tree();
  const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(tree.size() - first, 64));
  std::uint64_t bits = 0;
  for (std::uint32_t i = first == 0 ? 1 : 0; i < n; ++i) {
    const std::uint32_t c = first + i;
    if (of_frame[tree.frame[c]] == 0 || s.boxes->owner_of(c) != c) continue;
    bits |= std::uint64_t{1} << i;
  }
  return bits;
}

void sweep(const Selection& selection, MatchMarks& marks, const StopToken& stop, Executor& executor) {
  // Whether a frame matches is looked up for each context: better one byte than two columns far apart.
  std::vector<std::uint8_t> of_frame(selection.boxes->keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f)
    of_frame[f] = marks.found->matches[selection.boxes->keys->of_frame[f]];
  const std::size_t n_words = marks.starts.size();
  executor.run((n_words + kWordsOfTask - 1) / kWordsOfTask, [&](std::size_t task) {
    if (stop.stop_requested()) return;
    const std::size_t end = std::min(n_words, (task + 1) * kWordsOfTask);
    for (std::size_t word = task * kWordsOfTask; word < end; ++word)
      marks.starts[word] = starts_in(selection, of_frame, static_cast<std::uint32_t>(word * 64));
  });
}

void set_range(std::vector<std::uint64_t>& bits, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t at = begin; at < end;) {
    const std::uint32_t word_end = (at / 64 + 1) * 64;
    const std::uint32_t n = std::min(end, word_end) - at;
    const std::uint64_t ones = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    bits[at / 64] |= ones << (at % 64);
    at += n;
  }
}

// Where the search for matches in [first, ...) begins: behind what lies inside of one that starts before.
std::uint32_t first_outside(const MatchMarks& marks, const ContextTree& tree, std::uint32_t first) {
  std::uint32_t outside = first;
  for (std::uint32_t c = tree.parent[first]; c != kNone && c != 0; c = tree.parent[c])
    if (marks.starts_at(c)) outside = tree.subtree_end[c];
  return outside;
}

// Where the matches in [from, end) are that none of these contains: a sum, and where the last one ends.
struct Outermost {
  std::int64_t sum = 0;
  std::uint32_t until;
};
Outermost sum_outermost(const MatchMarks& marks, const ContextTree& tree, const Column<std::int64_t>& totals,
                        std::uint32_t from, std::uint32_t end) {
  Outermost out{0, from};
  for (std::uint32_t c = marks.next(from, end); c < end; c = marks.next(out.until, end)) {
    out.sum += totals[c];
    out.until = tree.subtree_end[c];
  }
  return out;
}

// Columns are far off: what is needed of a block is fetched while the one before is summed.
void fetch_block(const MatchMarks& marks, const ContextTree& tree, const Column<std::int64_t>& totals,
                 std::uint32_t from, std::uint32_t end) {
  for (std::uint32_t c = marks.next(from, end); c < end; c = marks.next(c + 1, end)) {
    __builtin_prefetch(&tree.subtree_end[c]);
    __builtin_prefetch(&totals[c]);
  }
}

void sum_blocks(const Selection& s, const Column<std::int64_t>& totals, MatchMarks& marks,
                const StopToken& stop, Executor& executor) {
  constexpr std::uint32_t kBlock = MatchMarks::kBlock;
  constexpr std::uint32_t kBlocksOfTask = 1024;
  const ContextTree& tree = s.profile->tree();
  const auto n = static_cast<std::uint32_t>(tree.size());
  const std::uint32_t n_blocks = (n + kBlock - 1) / kBlock;
  const auto end_of = [n](std::uint32_t block) {
    return n - block * kBlock > kBlock ? (block + 1) * kBlock : n;
  };
  marks.sum_before.resize(n_blocks + 1);
  marks.outside_from.resize(n_blocks);
  executor.run((n_blocks + kBlocksOfTask - 1) / kBlocksOfTask, [&](std::size_t task) {
    if (stop.stop_requested()) return;
    const auto first = static_cast<std::uint32_t>(task * kBlocksOfTask);
    const std::uint32_t last = std::min(n_blocks, first + kBlocksOfTask);
    std::uint32_t outside = first_outside(marks, tree, first * kBlock);
    for (std::uint32_t block = first; block < last; ++block) {
      const std::uint32_t end = end_of(block);
      if (block + 1 < last) fetch_block(marks, tree, totals, std::max(outside, end), end_of(block + 1));
      marks.outside_from[block] = std::max(outside, block * kBlock);
      if (outside >= end) continue;
      const Outermost found = sum_outermost(marks, tree, totals, marks.outside_from[block], end);
      marks.sum_before[block + 1] = found.sum;
      outside = found.until;
    }
  });
  std::partial_sum(marks.sum_before.begin(), marks.sum_before.end(), marks.sum_before.begin());
}

// As sum_outermost(), over more than a block: those in the middle are summed already.
std::int64_t sum_by_blocks(const MatchMarks& marks, const ContextTree& tree,
                           const Column<std::int64_t>& totals, std::uint32_t from, std::uint32_t end) {
  constexpr std::uint32_t kBlock = MatchMarks::kBlock;
  const std::uint32_t first = from / kBlock, last = (end - 1) / kBlock;
  if (first == last) return sum_outermost(marks, tree, totals, from, end).sum;
  return sum_outermost(marks, tree, totals, from, (first + 1) * kBlock).sum + marks.sum_before[last] -
         marks.sum_before[first + 1] + sum_outermost(marks, tree, totals, marks.outside_from[last], end).sum;
}

}  // namespace

template <class T>
void MatchMarks::sum_below(const ContextTree& tree, const Column<T>& totals, std::span<const Below> contexts,
                           bool inside, std::span<T> sums, StopToken& stop) const {
  struct Open {
    std::uint32_t match, end;  // the next match of a context, and where what is below the context ends
    std::uint32_t sum;
  };
  std::array<Open, kBatch> open;
  std::size_t n_open = 0;
  const auto go_on = [&](std::uint32_t from, std::uint32_t end, std::uint32_t sum) {
    const std::uint32_t match = next(from, end);
    if (match == end) return;
    __builtin_prefetch(&totals[match]);
    __builtin_prefetch(&tree.subtree_end[match]);
    open[n_open++] = {match, end, sum};
  };
  for (; !contexts.empty(); contexts = contexts.subspan(std::min(kBatch, contexts.size()))) {
    const std::span<const Below> batch = contexts.first(std::min(kBatch, contexts.size()));
    for (const Below& at : batch) {
      __builtin_prefetch(&tree.subtree_end[at.context]);
      __builtin_prefetch(&starts[at.context / 64]);
    }
    for (const auto [context, sum] : batch) {
      const std::uint32_t end = tree.subtree_end[context];
      if constexpr (std::is_same_v<T, std::int64_t>) {
        if (!inside && !sum_before.empty() && end - context > kBlock) {
          sums[sum] += sum_by_blocks(*this, tree, totals, context + 1, end);
          continue;
        }
      }
      go_on(context + 1, end, sum);
    }
    while (n_open > 0) {
      const std::size_t n = std::exchange(n_open, 0);
      for (std::size_t i = 0; i < n; ++i) {
        if (stop.check()) return;
        const Open at = open[i];
        sums[at.sum] += totals[at.match];
        go_on(tree.subtree_end[at.match], at.end, at.sum);
      }
    }
  }
}

template void MatchMarks::sum_below(const ContextTree&, const Column<std::int64_t>&, std::span<const Below>,
                                    bool, std::span<std::int64_t>, StopToken&) const;
template void MatchMarks::sum_below(const ContextTree&, const Column<double>&, std::span<const Below>, bool,
                                    std::span<double>, StopToken&) const;

std::uint32_t MatchMarks::next(std::uint32_t from, std::uint32_t end) const {
  if (from >= end) return end;
  std::size_t word = from / 64;
  std::uint64_t bits = starts[word] & (~std::uint64_t{0} << (from % 64));
  const std::size_t last = (end - 1) / 64;
  while (bits == 0) {
    if (word == last) return end;
    bits = starts[++word];
  }
  return std::min(end,
                  static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
}

Result<MatchMarks> mark_matches(const Selection& selection, std::shared_ptr<const SearchResult> found,
                                bool above, const StopToken& stop, Executor& executor) {
  MatchMarks marks;
  marks.found = std::move(found);
  const ContextTree& tree = selection.profile->tree();
  const std::size_t n_words = (tree.size() + 63) / 64;
  marks.starts.resize(n_words);
  PROFD_TRY(const bool looked_up, look_up(selection, marks, stop, executor));
  if (!looked_up) sweep(selection, marks, stop, executor);
  PROFD_CHECK(stop.status());
  const auto n = static_cast<std::uint32_t>(tree.size());
  marks.none = marks.next(0, n) == n;
  const auto* totals = std::get_if<Column<std::int64_t>>(&selection.sums->totals);
  if (!above && totals != nullptr && !selection.sums->negative && !selection.sums->saturated && !marks.none)
    sum_blocks(selection, *totals, marks, stop, executor);
  PROFD_CHECK(stop.status());
  if (!above) return marks;
  marks.at_or_above.resize(n_words);
  for (std::uint32_t c = marks.next(0, n); c < n; c = marks.next(tree.subtree_end[c], n))
    set_range(marks.at_or_above, c, tree.subtree_end[c]);
  return marks;
}

}  // namespace profd
