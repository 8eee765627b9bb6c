#include "core/view/set_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/support/sums.h"
#include "core/view/set_walk.h"

namespace profd {
namespace {

// Visits the contexts that rows have values of, in order, with what was made of their frames from the root
// on: next(state above, frame) is the state of a context. visit(context, state, first row, one past the
// last).
template <class State, class Next, class Visit>
Result<void> walk_rows(const ContextTree& tree, const Column<std::uint32_t>& contexts, State root, Next next,
                       Visit visit, StopToken& stop) {
  struct Level {
    std::uint32_t end;
    State state;
  };
  std::vector<Level> levels;
  std::size_t row = 0;
  const auto rows_of = [&](std::uint32_t context, const State& state) {
    const std::size_t first = row;
    while (row < contexts.size() && contexts[row] == context) ++row;
    if (row > first) visit(context, state, first, row);
  };
  rows_of(0, root);
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n && row < contexts.size();) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (tree.subtree_end[c] <= contexts[row]) {  // nothing below has a value
      c = tree.subtree_end[c];
      continue;
    }
    while (!levels.empty() && levels.back().end <= c) levels.pop_back();
    const State state = next(levels.empty() ? root : levels.back().state, tree.frame[c], c);
    rows_of(c, state);
    levels.push_back({tree.subtree_end[c], state});
    ++c;
  }
  return {};
}

bool is_hidden(const Selection& selection, std::uint32_t frame) {
  return !selection.boxes->hidden.empty() && selection.boxes->hidden[frame] != 0;
}

template <class T>
T sum_of_rows(const Column<T>& values, std::size_t first, std::size_t last, bool saturated) {
  T sum{};
  for (std::size_t row = first; row < last; ++row) sum = add(sum, finite(values[row]), saturated);
  return sum;
}

}  // namespace

Result<std::vector<StackClass>> stack_classes(const Selection& selection,
                                              const std::vector<SetMask>& of_frame, const SetRules& rules,
                                              std::span<const RunsOfSet> runs, StopToken stop) {
  const SelfTable& self = selection.rows->self;
  const bool saturated = selection.sums->saturated;
  return std::visit(
      [&]<class T>(const Column<T>& values) -> Result<std::vector<StackClass>> {
        std::map<std::tuple<SetMask, SetMask, int>, T> sums;
        std::vector<std::size_t> at(runs.size(), 0);
        const auto next = [&](const SetState& above, std::uint32_t frame, std::uint32_t) {
          return is_hidden(selection, frame) ? above : step(above, of_frame[frame], rules);
        };
        const auto visit = [&](std::uint32_t context, const SetState& state, std::size_t first,
                               std::size_t last) {
          SetMask through = state.through;
          for (std::size_t r = 0; r < runs.size(); ++r) {
            const ContextRanges& ranges = runs[r].ranges;
            while (at[r] < ranges.size() && ranges.end[at[r]] <= context) ++at[r];
            if (at[r] < ranges.size() && ranges.begin[at[r]] <= context) through |= SetMask{1} << runs[r].set;
          }
          T& sum = sums[{through, state.own, state.kind_of_work()}];
          sum = add(sum, sum_of_rows(values, first, last, saturated), saturated);
        };
        PROFD_CHECK(walk_rows(selection.profile->tree(), self.contexts, SetState{}, next, visit, stop));
        std::vector<StackClass> out;
        for (const auto& [what, sum] : sums)
          out.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), Value(sum)});
        return out;
      },
      self.values[selection.metric().v]);
}

Value sum_of_classes(const Selection& selection, std::span<const StackClass> classes,
                     const std::function<bool(const StackClass&)>& wanted) {
  return std::visit(
      [&]<class T>(const T&) {
        T sum{};
        for (const StackClass& one : classes)
          if (wanted(one)) sum = add(sum, std::get<T>(one.sum), selection.sums->saturated);
        return Value(sum);
      },
      selection.sums->total);
}

Result<std::vector<KeyAmount>> callers_of_work(const Selection& selection,
                                               const std::vector<SetMask>& of_frame, const SetRules& rules,
                                               std::size_t set, StopToken stop) {
  struct State {
    SetState sets;
    std::uint32_t caller = kNone;  // a frame
  };
  const SetMask bit = SetMask{1} << set;
  const SelfTable& self = selection.rows->self;
  return std::visit(
      [&]<class T>(const Column<T>& values) -> Result<std::vector<KeyAmount>> {
        std::unordered_map<Key, T> sums;
        const auto next = [&](const State& above, std::uint32_t frame, std::uint32_t) {
          if (is_hidden(selection, frame)) return above;
          const SetMask mask = of_frame[frame];
          State at{step(above.sets, mask, rules), above.caller};
          if ((mask & (rules.helpers | bit)) == 0) at.caller = frame;
          return at;
        };
        const auto visit = [&](std::uint32_t, const State& state, std::size_t first, std::size_t last) {
          if ((state.sets.own & bit) == 0 || state.caller == kNone) return;
          T& sum = sums[selection.boxes->keys->of_frame[state.caller]];
          sum = add(sum, sum_of_rows(values, first, last, selection.sums->saturated),
                    selection.sums->saturated);
        };
        PROFD_CHECK(walk_rows(selection.profile->tree(), self.contexts, State{}, next, visit, stop));
        std::vector<KeyAmount> out;
        for (const auto& [key, sum] : sums) out.push_back({key, Value(sum)});
        const auto& rank = selection.boxes->keys->name_rank;
        std::sort(out.begin(), out.end(), [&](const KeyAmount& a, const KeyAmount& b) {
          const T x = std::get<T>(a.amount), y = std::get<T>(b.amount);
          return x != y ? x > y : rank[a.key] < rank[b.key];
        });
        return out;
      },
      self.values[selection.metric().v]);
}

Result<ContextRanges> contexts_at_work(const ContextTree& tree, const std::vector<std::uint8_t>& codes,
                                       StopToken& stop) {
  struct Level {
    std::uint32_t end;
    bool own, called;
  };
  std::vector<Level> levels;
  ContextRanges out;
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n; ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    while (!levels.empty() && levels.back().end <= c) levels.pop_back();
    Level at = levels.empty() ? Level{0, false, false} : levels.back();
    at.end = tree.subtree_end[c];
    switch (static_cast<WorkCode>(codes[tree.frame[c]])) {
      case WorkCode::in:
        at.own = true;
        break;
      case WorkCode::in_if_called:
        at.own = at.called;
        break;
      case WorkCode::helper:
        break;
      case WorkCode::idle:
        at.own = false;
        break;
      case WorkCode::other:
        at.own = false;
        at.called = true;
        break;
    }
    levels.push_back(at);
    if (!at.own) continue;
    if (!out.end.empty() && out.end.back() == c) {
      out.end.back() = c + 1;
    } else {
      out.begin.push_back(c);
      out.end.push_back(c + 1);
    }
  }
  return out;
}

std::vector<SetMask> masks_of_keys(const KeyTable& keys, const std::vector<SetMask>& of_frame) {
  std::vector<SetMask> out(keys.n_keys(), ~SetMask{0});
  std::vector<std::uint8_t> seen(keys.n_keys(), 0);
  for (std::size_t f = 0; f < of_frame.size(); ++f) {
    out[keys.of_frame[f]] &= of_frame[f];
    seen[keys.of_frame[f]] = 1;
  }
  for (std::size_t key = 0; key < out.size(); ++key)
    if (seen[key] == 0) out[key] = 0;
  return out;
}

}  // namespace profd
