#include "core/view/occurrences.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "core/view/filters.h"
#include "core/view/fragment.h"
#include "core/view/key_index.h"
#include "core/view/key_memo.h"

namespace profd {
namespace {

// Symbols by frame: 1.. for the keys of the fragment, 0 for every other.
struct Symbols {
  std::vector<std::uint32_t> of_frame, pattern;
  std::uint32_t n = 0;
};

Symbols make_symbols(const KeyTable& keys, const std::vector<Key>& focus) {
  Symbols symbols;
  std::vector<std::uint32_t> of_key(keys.n_keys(), 0);
  for (Key key : focus) {
    if (of_key[key] == 0) of_key[key] = ++symbols.n;
    symbols.pattern.push_back(of_key[key]);
  }
  symbols.of_frame.resize(keys.of_frame.size());
  for (std::size_t f = 0; f < keys.of_frame.size(); ++f) symbols.of_frame[f] = of_key[keys.of_frame[f]];
  return symbols;
}

// One sweep, for any length of the fragment.
Result<std::vector<std::uint32_t>> sweep_for(const Selection& selection, const std::vector<Key>& focus,
                                             StopToken& stop) {
  const ContextTree& tree = selection.profile->tree();
  const auto n = static_cast<std::uint32_t>(tree.size());
  const Symbols symbols = make_symbols(*selection.boxes->keys, focus);
  const bool all_own = selection.boxes->owner.empty();
  std::vector<std::uint32_t> found;
  if (focus.size() == 1) {
    for (std::uint32_t c = 1; c < n; ++c) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (symbols.of_frame[tree.frame[c]] != 0 && (all_own || selection.boxes->owner[c] == c))
        found.push_back(c);
    }
  } else {
    const FragmentAutomaton automaton(symbols.pattern, symbols.n);
    std::vector<FragmentAutomaton::State> state(n, 0);
    for (std::uint32_t c = 1; c < n; ++c) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const FragmentAutomaton::State above = state[tree.parent[c]];
      if (!all_own && selection.boxes->owner[c] != c) {
        state[c] = above;  // part of a box above
        continue;
      }
      state[c] = automaton.next(above, symbols.of_frame[tree.frame[c]]);
      if (automaton.accepts(state[c])) found.push_back(c);
    }
  }
  return found;
}

// The contexts of the last key, each with a look at the boxes above.
Result<std::vector<std::uint32_t>> look_up(const Selection& selection, const KeyIndex& index,
                                           const std::vector<Key>& focus, StopToken& stop) {
  const ContextTree& tree = selection.profile->tree();
  std::vector<std::uint32_t> found;
  for (std::uint32_t c : index.of(focus.back())) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    std::uint32_t at = c;
    std::size_t i = focus.size() - 1;
    for (; i > 0; --i) {
      at = selection.boxes->owner_of(tree.parent[at]);
      if (at == 0 || selection.boxes->keys->of_frame[tree.frame[at]] != focus[i - 1]) break;
    }
    if (i == 0) found.push_back(c);
  }
  return found;
}

void leave_out_empty(const Selection& selection, std::vector<std::uint32_t>& contexts) {
  std::visit(
      [&](const auto& widths) { std::erase_if(contexts, [&](std::uint32_t c) { return widths[c] == 0; }); },
      selection.sums->widths);
}

}  // namespace

Result<std::vector<std::uint32_t>> find_all_occurrences(const Selection& selection,
                                                        const std::vector<Key>& focus, StopToken& stop) {
  if (focus.empty()) return fail(ErrorCode::invalid, "callers and callees need a function to look at");
  if (focus.size() > kMaxFragmentLength)
    return fail(ErrorCode::limit, fmt::format("a fragment has at most {} functions", kMaxFragmentLength));
  for (Key key : focus) {
    if (key >= selection.boxes->keys->n_keys())
      return fail(ErrorCode::not_found, "the profile has no such key");
  }
  PROFD_TRY(const std::shared_ptr<const KeyIndex> index,
            selection.boxes->memo->key_index(*selection.boxes, false, stop));
  // Looking back from every context is only worth it while that stays below the cost of a sweep.
  const bool looks_back =
      index && index->of(focus.back()).size() * (focus.size() - 1) <= selection.profile->tree().size();
  return looks_back ? look_up(selection, *index, focus, stop) : sweep_for(selection, focus, stop);
}

Result<std::vector<std::uint32_t>> find_occurrences(const Selection& selection, const std::vector<Key>& focus,
                                                    StopToken& stop) {
  PROFD_TRY(std::vector<std::uint32_t> found, find_all_occurrences(selection, focus, stop));
  leave_out_empty(selection, found);
  return found;
}

}  // namespace profd
