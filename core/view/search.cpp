#include "core/view/search.h"

#include <algorithm>
#include <array>
#include <bit>
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
  OutermostSums(const Selection& s, const Column<T>& totals, const std::vector<std::uint8_t>& set_of,
                std::size_t n_sets)
      : s_(s), totals_(totals), set_of_(set_of), sum_(n_sets), inside_until_(n_sets, 1) {}

  // Ascending, each of a frame in some set. Far-off columns are fetched ahead of their use.
  void take(const std::uint32_t* found, std::size_t n) {
    const ContextTree& tree = s_.profile->tree();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + 16 < n) {
        __builtin_prefetch(&tree.subtree_end[found[i + 16]]);
        __builtin_prefetch(&totals_[found[i + 16]]);
      }
      const std::size_t set = set_of_[tree.frame[found[i]]] - 1u;
      if (found[i] < inside_until_[set]) continue;
      sum_[set] = add(sum_[set], totals_[found[i]], s_.saturated);
      inside_until_[set] = tree.subtree_end[found[i]];
    }
  }
  // Nothing more of a single set comes before this context.
  std::uint32_t skip_to() const { return sum_.size() == 1 ? inside_until_[0] : 1; }
  std::vector<Value> values() const { return {sum_.begin(), sum_.end()}; }

 private:
  const Selection& s_;
  const Column<T>& totals_;
  const std::vector<std::uint8_t>& set_of_;
  std::vector<T> sum_;
  std::vector<std::uint32_t> inside_until_;
};

constexpr std::uint32_t kBlock = 4096;

template <class T>
Result<std::vector<Value>> sweep_sums(const Selection& s, OutermostSums<T>& sums,
                                      const std::vector<std::uint8_t>& set_of, StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  std::array<std::uint32_t, kBlock> found;
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n;) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t end = n - c > kBlock ? c + kBlock : n;
    std::size_t n_found = 0;
    for (; c < end; ++c) {
      found[n_found] = c;
      n_found += set_of[tree.frame[c]] != 0 ? 1 : 0;
    }
    sums.take(found.data(), n_found);
    c = std::max(c, sums.skip_to());
  }
  return sums.values();
}

// The contexts of the functions alone, put in order by marking them in a map of bits.
template <class T>
Result<std::vector<Value>> indexed_sums(const Selection& s, const KeyIndex& index,
                                        const std::vector<Key>& keys, OutermostSums<T>& sums,
                                        const std::vector<std::uint8_t>& set_of, StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  std::vector<std::uint64_t> marked((tree.size() + 63) / 64, 0);
  for (const Key key : keys) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    for (const std::uint32_t c : index.of(key))
      if (set_of[tree.frame[c]] != 0) marked[c / 64] |= std::uint64_t{1} << (c % 64);
  }
  std::array<std::uint32_t, kBlock> found;
  std::size_t n_found = 0;
  for (std::size_t word = 0; word < marked.size(); ++word) {
    for (std::uint64_t bits = marked[word]; bits != 0; bits &= bits - 1)
      found[n_found++] =
          static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
    if (n_found + 64 <= kBlock) continue;
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    sums.take(found.data(), std::exchange(n_found, 0));
  }
  sums.take(found.data(), n_found);
  return sums.values();
}

template <class T>
Result<std::vector<Value>> matched_sums(const Selection& s, const Column<T>& totals,
                                        std::vector<std::uint8_t> set_of, std::size_t n_sets,
                                        StopToken& stop) {
  for (std::size_t f = 0; f < s.hidden.size(); ++f)
    if (s.hidden[f] != 0) set_of[f] = 0;
  OutermostSums<T> sums(s, totals, set_of, n_sets);
  // Where someone has made an index of contexts by function already, few of them need no sweep over all.
  if (s.owner.empty() && s.memo->has_key_index()) {
    PROFD_TRY(const auto index, s.memo->key_index(s, true, stop));
    std::vector<std::uint8_t> seen(s.keys->n_keys(), 0);
    std::vector<Key> keys;
    std::size_t n_contexts = 0;
    for (std::size_t f = 0; f < set_of.size(); ++f) {
      const Key key = s.keys->of_frame[f];
      if (set_of[f] == 0 || std::exchange(seen[key], 1) != 0) continue;
      keys.push_back(key);
      n_contexts += index->of(key).size();
    }
    if (n_contexts < s.profile->tree().size() / 6) return indexed_sums(s, *index, keys, sums, set_of, stop);
  }
  return sweep_sums(s, sums, set_of, stop);
}

}  // namespace

Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop) {
  PROFD_TRY(const Pattern compiled, Pattern::compile(pattern, true, !has_upper_case(pattern)));
  SearchResult result;
  const std::size_t n_keys = selection.keys->n_keys();
  result.matches.resize(n_keys);
  for (Key key = 0; key < n_keys; ++key) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (!matches_key(selection, compiled, key)) continue;
    result.matches[key] = 1;
    ++result.n_keys;
  }
  std::vector<std::uint8_t> of_frame(selection.keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f) of_frame[f] = result.matches[selection.keys->of_frame[f]];
  PROFD_TRY(result.matched, matched_total(selection, of_frame, std::move(stop)));
  return result;
}

Result<Value> matched_total(const Selection& selection, const std::vector<std::uint8_t>& matches,
                            StopToken stop) {
  PROFD_TRY(const std::vector<Value> sums, matched_totals(selection, matches, 1, std::move(stop)));
  return sums.front();
}

Result<std::vector<Value>> matched_totals(const Selection& selection, const std::vector<std::uint8_t>& set_of,
                                          std::size_t n_sets, StopToken stop) {
  return std::visit([&](const auto& totals) { return matched_sums(selection, totals, set_of, n_sets, stop); },
                    selection.totals);
}

}  // namespace profd
