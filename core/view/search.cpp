#include "core/view/search.h"

#include <algorithm>
#include <array>

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

template <class T>
Result<std::vector<Value>> matched_sums(const Selection& s, const Column<T>& totals,
                                        std::vector<std::uint8_t> set_of, std::size_t n_sets,
                                        StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  for (std::size_t f = 0; f < s.hidden.size(); ++f)
    if (s.hidden[f] != 0) set_of[f] = 0;
  // In blocks: what matches is gathered first, so that its far-off columns can be fetched ahead of their use.
  constexpr std::uint32_t kBlock = 4096;
  std::array<std::uint32_t, kBlock> found;
  std::vector<T> sum(n_sets);
  std::vector<std::uint32_t> inside_until(n_sets, 1);
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n;) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t end = n - c > kBlock ? c + kBlock : n;
    std::size_t n_found = 0;
    for (; c < end; ++c) {
      found[n_found] = c;
      n_found += set_of[tree.frame[c]] != 0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < n_found; ++i) {
      if (i + 16 < n_found) {
        __builtin_prefetch(&tree.subtree_end[found[i + 16]]);
        __builtin_prefetch(&totals[found[i + 16]]);
      }
      const std::size_t set = set_of[tree.frame[found[i]]] - 1u;
      if (found[i] < inside_until[set]) continue;
      sum[set] = add(sum[set], totals[found[i]], s.saturated);
      inside_until[set] = tree.subtree_end[found[i]];
    }
    if (n_sets == 1) c = std::max(c, inside_until[0]);
  }
  return std::vector<Value>(sum.begin(), sum.end());
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
