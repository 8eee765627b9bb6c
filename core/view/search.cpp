#include "core/view/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/view/call_paths.h"
#include "core/view/divided_search.h"
#include "core/view/key_memo.h"
#include "core/view/pattern.h"
#include "core/view/search_names.h"

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

constexpr std::size_t kMaxNeedles = 8;  // reading all names for each of more takes longer than the expression

// matches[key] for the keys of one task. Where a text is known that is in every name that matches, the
// expression looks only at names that have it.
void match_keys(const Selection& selection, const Pattern& pattern, const SearchNames& names,
                const std::vector<std::string>& needles, Key first, Key last, std::uint8_t* matches,
                const StopToken& stop) {
  std::string made;
  std::size_t looked_at = 0;  // bytes since who asked was last asked whether it still wants this
  for (const std::string& needle : needles) names.find(needle, first, last, matches);
  for (Key key = first; key < last; ++key) {
    std::uint8_t& match = matches[key - first];
    if (!needles.empty() && names.is_ascii[key] != 0 && (match == 0 || pattern.needles_suffice())) continue;
    const std::string_view name = search_name(*selection.boxes, key, made);
    match = pattern.matches(name, stop) ? 1 : 0;
    if ((looked_at += name.size()) < Pattern::kLongText) continue;
    if (stop.stop_requested()) return;
    looked_at = 0;
  }
}

}  // namespace

Result<Value> matched_in_calls(const Selection& selection, const std::vector<std::uint8_t>& matches,
                               StopToken& stop) {
  return std::visit(
      [&]<class T>(const Column<T>&) -> Result<Value> {
        const CallPaths<T> calls(selection, Shape::top_down, {});
        const std::vector<double> shares = calls.shares(matches, stop);
        PROFD_CHECK(stop.status());
        typename CallPaths<T>::Division division;
        calls.divide(calls.root(), {}, division);
        double sum = 0;
        for (const auto& part : division.parts) sum += static_cast<double>(part.total) * shares[part.key];
        if constexpr (std::is_same_v<T, std::int64_t>) sum = std::round(sum);
        return Value(std::min(std::get<T>(selection.sums->total), static_cast<T>(sum)));
      },
      selection.sums->totals);
}

Result<SearchResult> search(const Selection& selection, std::string_view pattern, StopToken stop,
                            Executor& executor) {
  PROFD_TRY(const Pattern compiled, Pattern::compile(pattern, true, !has_upper_case(pattern)));
  std::vector<std::string> needles = compiled.needles();
  if (needles.size() > kMaxNeedles) needles.clear();
  const auto names = selection.boxes->memo->search_names(*selection.boxes);
  SearchResult result;
  const std::size_t n_keys = selection.boxes->keys->n_keys();
  result.matches.resize(n_keys);
  constexpr std::size_t kKeys = 4096;  // that one task looks at
  executor.run((n_keys + kKeys - 1) / kKeys, [&](std::size_t task) {
    if (stop.stop_requested()) return;
    const std::size_t end = std::min(n_keys, (task + 1) * kKeys);
    match_keys(selection, compiled, *names, needles, static_cast<Key>(task * kKeys), static_cast<Key>(end),
               result.matches.data() + task * kKeys, stop);
  });
  if (stop.stop_requested()) return fail(ErrorCode::cancelled, "cancelled");
  result.n_keys =
      static_cast<std::size_t>(std::count(result.matches.begin(), result.matches.end(), std::uint8_t{1}));
  if (selection.divided) {
    const auto one =
        static_cast<Key>(std::find(result.matches.begin(), result.matches.end(), 1) - result.matches.begin());
    if (result.n_keys == 1 && selection.stated->known[one] != 0) {
      result.matched = selection.stated->total[one];
      return result;
    }
    PROFD_TRY(result.matched, matched_in_calls(selection, result.matches, stop));
    result.estimated = true;
    return result;
  }
  result.estimated = selection.estimated;
  std::vector<std::uint8_t> of_frame(selection.boxes->keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f)
    of_frame[f] = result.matches[selection.boxes->keys->of_frame[f]];
  PROFD_TRY(result.matched, matched_total(selection, of_frame, std::move(stop), executor));
  return result;
}

}  // namespace profd
