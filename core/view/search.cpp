#include "core/view/search.h"

#include <algorithm>

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

template <class T>
Result<Value> matched_sum(const Selection& s, const Column<T>& totals,
                          const std::vector<std::uint8_t>& matches, StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  std::vector<std::uint8_t> of_frame(s.keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f) {
    const bool hidden = !s.hidden.empty() && s.hidden[f] != 0;
    of_frame[f] = hidden ? 0 : matches[s.keys->of_frame[f]];
  }
  T sum{};
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n;) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (of_frame[tree.frame[c]] == 0) {
      ++c;
      continue;
    }
    sum = add(sum, totals[c], s.saturated);
    c = tree.subtree_end[c];
  }
  return Value(sum);
}

}  // namespace

Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop) {
  PROFD_TRY(const Pattern compiled, Pattern::compile(pattern, true, !has_upper_case(pattern)));
  SearchResult result;
  const std::size_t n_keys = selection.keys->n_keys();
  result.matches.resize(n_keys);
  for (Key key = 0; key < n_keys; ++key) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (!compiled.matches(key_name(*selection.profile, *selection.keys, key))) continue;
    result.matches[key] = 1;
    ++result.n_keys;
  }
  PROFD_TRY(
      result.matched,
      std::visit([&](const auto& totals) { return matched_sum(selection, totals, result.matches, stop); },
                 selection.totals));
  return result;
}

}  // namespace profd
