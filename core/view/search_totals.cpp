// Totals of the stacks through sets of functions, each stack once: only the outermost match of a stack
// counts.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/support/big_vector.h"
#include "core/view/context_marks.h"
#include "core/view/key_index.h"
#include "core/view/key_memo.h"
#include "core/view/search.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

// Contexts looked at before what was found is summed.
constexpr std::uint32_t kBlock = 1024;

// Sums by set while contexts come in ascending order; the outermost of a set counts.
template <class T>
class OutermostSums {
 public:
  // For contexts from `first` on: those above it count already elsewhere, and all below them with them.
  OutermostSums(const Selection& s, const Column<T>& totals, const std::vector<std::uint8_t>& set_of,
                std::size_t n_sets, std::uint32_t first)
      : s_(s), totals_(totals), set_of_(set_of), sum_(n_sets), inside_until_(n_sets, 1) {
    const ContextTree& tree = s.profile->tree();
    if (first >= tree.size()) return;
    for (std::uint32_t c = tree.parent[first]; c != kNone && c != 0; c = tree.parent[c]) {
      const std::uint8_t set = set_of[tree.frame[c]];
      if (set != 0) inside_until_[set - 1u] = tree.subtree_end[c];
    }
  }

  // Ascending, each of a frame in some set; at most kBlock. Columns are far off: what is needed of them is
  // fetched ahead, totals only of contexts that turned out to be outermost.
  void take(const std::uint32_t* found, std::size_t n) {
    const ContextTree& tree = s_.profile->tree();
    std::array<std::uint32_t, kBlock> outermost;
    std::array<std::uint8_t, kBlock> set_of_outermost;
    std::size_t n_outermost = 0;
    const bool one_set = sum_.size() == 1;
    for (std::size_t i = 0; i < n; ++i) {
      // What lies inside of a match already is skipped without looking.
      if (i + 16 < n && found[i + 16] >= skip_to()) __builtin_prefetch(&tree.subtree_end[found[i + 16]]);
      const std::size_t set = one_set ? 0 : set_of_[tree.frame[found[i]]] - 1u;
      if (found[i] < inside_until_[set]) continue;
      __builtin_prefetch(&totals_[found[i]]);
      outermost[n_outermost] = found[i];
      set_of_outermost[n_outermost++] = static_cast<std::uint8_t>(set);
      inside_until_[set] = tree.subtree_end[found[i]];
    }
    for (std::size_t i = 0; i < n_outermost; ++i) {
      T& sum = sum_[one_set ? 0 : set_of_outermost[i]];
      sum = add(sum, totals_[outermost[i]], s_.sums->saturated);
    }
  }
  // Nothing more of a single set comes before this context.
  std::uint32_t skip_to() const { return sum_.size() == 1 ? inside_until_[0] : 1; }
  const std::vector<T>& sums() const { return sum_; }

 private:
  const Selection& s_;
  const Column<T>& totals_;
  const std::vector<std::uint8_t>& set_of_;
  std::vector<T> sum_;
  std::vector<std::uint32_t> inside_until_;
};

// Consecutive contexts that are summed on their own. Fixed, so that sums of fractions are the same on every
// machine.
constexpr std::uint32_t kPiece = 1u << 19;

template <class T>
void sweep_piece(OutermostSums<T>& sums, const ContextTree& tree, const std::vector<std::uint8_t>& set_of,
                 std::uint32_t c, std::uint32_t piece_end, const StopToken& stop) {
  std::array<std::uint32_t, kBlock> found;
  for (c = std::max(c, sums.skip_to()); c < piece_end; c = std::max(c, sums.skip_to())) {
    if (stop.stop_requested()) return;
    const std::uint32_t end = piece_end - c > kBlock ? c + kBlock : piece_end;
    std::size_t n_found = 0;
    for (; c < end; ++c) {
      found[n_found] = c;
      n_found += set_of[tree.frame[c]] != 0 ? 1 : 0;
    }
    sums.take(found.data(), n_found);
  }
}

// The functions that make up the sets, where an index of contexts by function is there.
struct Indexed {
  std::shared_ptr<const KeyIndex> index;  // null: sweep
  std::vector<ContextList> lists;         // whole: every frame of the function is in a set
  std::size_t n_contexts = 0;
};

// Contexts of the indexed functions in order.
class Marks {
 public:
  Marks(const Indexed& indexed, const Selection& s, const std::vector<std::uint8_t>& set_of,
        const StopToken& stop, Executor& executor)
      : memo_(*s.boxes->memo), words_(memo_.take_scratch()) {
    const ContextTree& tree = s.profile->tree();
    words_.resize((tree.size() + 63) / 64);
    mark_contexts(indexed.lists, tree, set_of, {words_.data(), words_.size()}, stop, executor);
  }

  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() { memo_.keep_scratch(std::move(words_)); }

  // Of [begin, end), which begins a word.
  template <class T>
  void sum(OutermostSums<T>& sums, std::uint32_t begin, std::uint32_t end) const {
    const std::size_t first = begin / 64, last = (end + 63) / 64;
    const std::uint64_t* const words = words_.data();
    // Not many at once: most lie inside of one that was just found, and are skipped unseen.
    std::array<std::uint32_t, kFound> found;
    std::size_t n_found = 0;
    for (std::size_t word = first; word < last;) {
      for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1)
        found[n_found++] =
            static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
      ++word;
      if (n_found + 64 <= kFound) continue;
      sums.take(found.data(), std::exchange(n_found, 0));
      word = std::max<std::size_t>(word, sums.skip_to() / 64);
    }
    sums.take(found.data(), n_found);
  }

 private:
  static constexpr std::size_t kFound = 256;
  KeyMemo& memo_;
  BigVector<std::uint64_t> words_;
};

// Few contexts of functions that someone has indexed already need no sweep over all.
Result<Indexed> find_indexed(const Selection& s, const std::vector<std::uint8_t>& set_of, StopToken& stop) {
  Indexed indexed;
  if (!s.boxes->owner.empty() || !s.boxes->memo->has_key_index()) return indexed;
  PROFD_TRY(const auto index, s.boxes->memo->key_index(*s.boxes, true, stop));
  constexpr std::uint8_t kIn = 1, kOut = 2;
  std::vector<std::uint8_t> frames_of(s.boxes->keys->n_keys(), 0);
  for (std::size_t f = 0; f < set_of.size(); ++f) {
    std::uint8_t& mark = frames_of[s.boxes->keys->of_frame[f]];
    mark = static_cast<std::uint8_t>(mark | (set_of[f] != 0 ? kIn : kOut));
  }
  for (Key key = 0; key < frames_of.size(); ++key) {
    if ((frames_of[key] & kIn) == 0) continue;
    indexed.lists.push_back({index->of(key), frames_of[key] == kIn});
    indexed.n_contexts += indexed.lists.back().contexts.size();
  }
  // With more, the sweep skips most of the tree: it lies below a match.
  if (indexed.n_contexts < s.profile->tree().size() / 8) indexed.index = index;
  return indexed;
}

template <class T>
Result<std::vector<Value>> matched_sums(const Selection& s, const Column<T>& totals,
                                        std::vector<std::uint8_t> set_of, std::size_t n_sets, StopToken& stop,
                                        Executor& executor) {
  for (std::size_t f = 0; f < s.boxes->hidden.size(); ++f)
    if (s.boxes->hidden[f] != 0) set_of[f] = 0;
  if (std::all_of(set_of.begin(), set_of.end(), [](std::uint8_t set) { return set == 0; }))
    return std::vector<Value>(n_sets, Value(T{}));
  PROFD_TRY(const Indexed indexed, find_indexed(s, set_of, stop));
  const ContextTree& tree = s.profile->tree();
  std::optional<Marks> marks;
  if (indexed.index) marks.emplace(indexed, s, set_of, stop, executor);
  const auto n = static_cast<std::uint32_t>(tree.size());
  const std::size_t n_pieces = n / kPiece + 1;
  std::vector<std::vector<T>> sums(n_pieces);
  executor.run(n_pieces, [&](std::size_t piece) {
    const std::uint32_t begin = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(piece) * kPiece);
    const std::uint32_t end = n - begin > kPiece ? static_cast<std::uint32_t>(piece + 1) * kPiece : n;
    OutermostSums<T> own(s, totals, set_of, n_sets, begin);
    if (marks)
      marks->sum(own, begin, end);
    else
      sweep_piece(own, tree, set_of, begin, end, stop);
    sums[piece] = own.sums();
  });
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
  std::vector<T> whole(n_sets);
  for (const std::vector<T>& piece : sums)
    for (std::size_t set = 0; set < n_sets; ++set)
      whole[set] = add(whole[set], piece[set], s.sums->saturated);
  return std::vector<Value>{whole.begin(), whole.end()};
}

}  // namespace

void prepare_search(const Selection& selection, Executor& executor) {
  selection.boxes->memo->search_names(*selection.boxes);
  const Marks first(Indexed{}, selection, {}, StopToken{}, executor);  // leaves its memory with the memo
}

Result<Value> matched_total(const Selection& selection, const std::vector<std::uint8_t>& matches,
                            StopToken stop, Executor& executor) {
  PROFD_TRY(const std::vector<Value> sums, matched_totals(selection, matches, 1, std::move(stop), executor));
  return sums.front();
}

Result<std::vector<Value>> matched_totals(const Selection& selection, const std::vector<std::uint8_t>& set_of,
                                          std::size_t n_sets, StopToken stop, Executor& executor) {
  return std::visit(
      [&](const auto& totals) { return matched_sums(selection, totals, set_of, n_sets, stop, executor); },
      selection.sums->totals);
}

}  // namespace profd
