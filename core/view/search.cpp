#include "core/view/search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "core/view/key_index.h"
#include "core/view/memo.h"
#include "core/view/pattern.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

// An upper-case letter that stands for itself: \S and \pL do not.
bool has_upper_case(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
      if (i < pattern.size() && (pattern[i] == 'p' || pattern[i] == 'P')) {
        if (i + 1 < pattern.size() && pattern[i + 1] == '{')
          while (i < pattern.size() && pattern[i] != '}') ++i;
        else
          ++i;
      }
      continue;
    }
    if (pattern[i] >= 'A' && pattern[i] <= 'Z') return true;
  }
  return false;
}

// A function's name is matched where it stands; other names are made first.
bool matches_key(const Selection& s, const Pattern& pattern, Key key) {
  const KeyTable& keys = *s.keys;
  if (keys.granularity == Granularity::function && key < keys.first_group()) {
    const std::string_view name = s.profile->function_name(s.profile->frames().function[keys.example[key]]);
    if (!name.empty()) return pattern.matches(name);
  }
  return pattern.matches(key_name(*s.profile, keys, key));
}

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

  // Ascending, each of a frame in some set. Far-off columns are fetched ahead of their use.
  void take(const std::uint32_t* found, std::size_t n) {
    const ContextTree& tree = s_.profile->tree();
    for (std::size_t i = 0; i < n; ++i) {
      // What lies inside of a match already is skipped without looking.
      if (i + 16 < n && found[i + 16] >= skip_to()) {
        __builtin_prefetch(&tree.subtree_end[found[i + 16]]);
        __builtin_prefetch(&totals_[found[i + 16]]);
      }
      const std::size_t set = sum_.size() == 1 ? 0 : set_of_[tree.frame[found[i]]] - 1u;
      if (found[i] < inside_until_[set]) continue;
      sum_[set] = add(sum_[set], totals_[found[i]], s_.saturated);
      inside_until_[set] = tree.subtree_end[found[i]];
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

constexpr std::uint32_t kBlock = 4096;

// Consecutive contexts that one task looks at. Fixed, so that sums of fractions are the same on every
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
  struct Part {
    Key key;
    bool whole;  // every frame of the function is in a set
  };
  std::shared_ptr<const KeyIndex> index;  // null: sweep
  std::vector<Part> parts;
};

// Contexts of the functions, piece after piece. Each list is read once from one end to the other: looking for
// its part of a piece would cost more than adding it up where many functions match.
class IndexedPieces {
 public:
  IndexedPieces(const Indexed& indexed, const ContextTree& tree, const std::vector<std::uint8_t>& set_of,
                std::uint32_t begin)
      : tree_(tree), set_of_(set_of) {
    for (const Indexed::Part& part : indexed.parts) {
      const auto contexts = indexed.index->of(part.key);
      const auto first = std::lower_bound(contexts.begin(), contexts.end(), begin);
      if (first != contexts.end()) left_.push_back({&*first, contexts.data() + contexts.size(), part.whole});
    }
  }

  // Those below `end`, put in order by marking them in a map of bits.
  template <class T>
  void sum(OutermostSums<T>& sums, std::uint32_t begin, std::uint32_t end, const StopToken& stop) {
    marked_.assign((end - begin + 63) / 64, 0);
    for (Left& left : left_) {
      if (left.next == left.end || *left.next >= end) continue;
      if (stop.stop_requested()) return;
      for (; left.next != left.end && *left.next < end; ++left.next)
        if (left.whole || set_of_[tree_.frame[*left.next]] != 0)
          marked_[(*left.next - begin) / 64] |= std::uint64_t{1} << ((*left.next - begin) % 64);
    }
    std::array<std::uint32_t, kBlock> found;
    std::size_t n_found = 0;
    for (std::size_t word = 0; word < marked_.size(); ++word) {
      for (std::uint64_t bits = marked_[word]; bits != 0; bits &= bits - 1)
        found[n_found++] = begin + static_cast<std::uint32_t>(word * 64) +
                           static_cast<std::uint32_t>(std::countr_zero(bits));
      if (n_found + 64 <= kBlock) continue;
      sums.take(found.data(), std::exchange(n_found, 0));
    }
    sums.take(found.data(), n_found);
  }

 private:
  struct Left {
    const std::uint32_t *next, *end;
    bool whole;
  };
  const ContextTree& tree_;
  const std::vector<std::uint8_t>& set_of_;
  std::vector<Left> left_;
  std::vector<std::uint64_t> marked_;
};

// Few contexts of functions that someone has indexed already need no sweep over all.
Result<Indexed> find_indexed(const Selection& s, const std::vector<std::uint8_t>& set_of, StopToken& stop) {
  Indexed indexed;
  if (!s.owner.empty() || !s.memo->has_key_index()) return indexed;
  PROFD_TRY(const auto index, s.memo->key_index(s, true, stop));
  constexpr std::uint8_t kIn = 1, kOut = 2;
  std::vector<std::uint8_t> frames_of(s.keys->n_keys(), 0);
  for (std::size_t f = 0; f < set_of.size(); ++f) {
    std::uint8_t& mark = frames_of[s.keys->of_frame[f]];
    mark = static_cast<std::uint8_t>(mark | (set_of[f] != 0 ? kIn : kOut));
  }
  std::size_t n_contexts = 0;
  for (Key key = 0; key < frames_of.size(); ++key) {
    if ((frames_of[key] & kIn) == 0) continue;
    indexed.parts.push_back({key, frames_of[key] == kIn});
    n_contexts += index->of(key).size();
  }
  if (n_contexts < s.profile->tree().size() / 6) indexed.index = index;
  return indexed;
}

template <class T>
Result<std::vector<Value>> matched_sums(const Selection& s, const Column<T>& totals,
                                        std::vector<std::uint8_t> set_of, std::size_t n_sets, StopToken& stop,
                                        Executor& executor) {
  for (std::size_t f = 0; f < s.hidden.size(); ++f)
    if (s.hidden[f] != 0) set_of[f] = 0;
  if (std::all_of(set_of.begin(), set_of.end(), [](std::uint8_t set) { return set == 0; }))
    return std::vector<Value>(n_sets, Value(T{}));
  PROFD_TRY(const Indexed indexed, find_indexed(s, set_of, stop));
  const auto n = static_cast<std::uint32_t>(s.profile->tree().size());
  const std::size_t n_pieces = n / kPiece + 1;
  std::vector<std::vector<T>> sums(n_pieces);
  const std::size_t n_tasks = std::min<std::size_t>(n_pieces, executor.width() * 2);
  executor.run(n_tasks, [&](std::size_t task) {
    const std::size_t last = n_pieces * (task + 1) / n_tasks;
    std::optional<IndexedPieces> pieces;
    for (std::size_t piece = n_pieces * task / n_tasks; piece < last; ++piece) {
      const std::uint32_t begin = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(piece) * kPiece);
      const std::uint32_t end = n - begin > kPiece ? static_cast<std::uint32_t>(piece + 1) * kPiece : n;
      OutermostSums<T> own(s, totals, set_of, n_sets, begin);
      if (indexed.index) {
        if (!pieces) pieces.emplace(indexed, s.profile->tree(), set_of, begin);
        pieces->sum(own, begin, end, stop);
      } else {
        sweep_piece(own, s.profile->tree(), set_of, begin, end, stop);
      }
      sums[piece] = own.sums();
    }
  });
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
  std::vector<T> whole(n_sets);
  for (const std::vector<T>& piece : sums)
    for (std::size_t set = 0; set < n_sets; ++set) whole[set] = add(whole[set], piece[set], s.saturated);
  return std::vector<Value>{whole.begin(), whole.end()};
}

}  // namespace

Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop,
                            Executor& executor) {
  PROFD_TRY(const Pattern compiled, Pattern::compile(pattern, true, !has_upper_case(pattern)));
  SearchResult result;
  const std::size_t n_keys = selection.keys->n_keys();
  result.matches.resize(n_keys);
  constexpr std::size_t kKeys = 4096;  // that one task looks at
  executor.run((n_keys + kKeys - 1) / kKeys, [&](std::size_t task) {
    if (stop.stop_requested()) return;
    const std::size_t end = std::min(n_keys, (task + 1) * kKeys);
    for (std::size_t key = task * kKeys; key < end; ++key)
      result.matches[key] = matches_key(selection, compiled, static_cast<Key>(key)) ? 1 : 0;
  });
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
  result.n_keys =
      static_cast<std::size_t>(std::count(result.matches.begin(), result.matches.end(), std::uint8_t{1}));
  std::vector<std::uint8_t> of_frame(selection.keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f) of_frame[f] = result.matches[selection.keys->of_frame[f]];
  PROFD_TRY(result.matched, matched_total(selection, of_frame, std::move(stop), executor));
  return result;
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
      selection.totals);
}

}  // namespace profd
