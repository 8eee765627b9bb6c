#include "core/source/slot_sums.h"

#include <cmath>
#include <utility>

#include "core/source/running_sum.h"
#include "core/support/checked.h"
#include "core/view/stated.h"

namespace profd {
namespace {

// Which slot each frame and each context counts for; kNone: none.
struct Slots {
  std::vector<std::uint32_t> of_frame;
  std::vector<std::uint32_t> of_self;  // by context; empty: that of its frame
};

// Frames that a filter hides or makes part of a group are in no slot. What was measured in a hidden one is
// its caller's.
Result<Slots> slots_in(const Selection& selection, std::vector<std::uint32_t> slot_of_frame,
                       StopToken& stop) {
  Slots slots{std::move(slot_of_frame), {}};
  for (std::uint32_t f = 0; f < slots.of_frame.size(); ++f)
    if (!selection.boxes->shows(f)) slots.of_frame[f] = kNone;
  if (selection.boxes->hidden.empty()) return slots;
  const ContextTree& tree = selection.profile->tree();
  slots.of_self.resize(tree.size(), kNone);
  for (std::uint32_t c = 1; c < slots.of_self.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t frame = tree.frame[c];
    slots.of_self[c] =
        selection.boxes->hidden[frame] != 0 ? slots.of_self[tree.parent[c]] : slots.of_frame[frame];
  }
  return slots;
}

// An outermost context of a slot that the sweep is inside of.
struct Open {
  std::uint32_t end, slot;
};

// One metric, one pass over tree and rows side by side. The total of a context is what the running sum of
// selves grows by while the sweep is inside its subtree, so no column by context is needed.
template <class T>
Result<void> sum_metric(const Profile& profile, const Column<std::uint32_t>& contexts,
                        const Column<T>& values, const Slots& slots, std::vector<Value>& self,
                        std::vector<Value>& total, StopToken& stop) {
  const ContextTree& tree = profile.tree();
  const std::size_t n_slots = self.size();
  std::vector<Running<T>> selves(n_slots), totals(n_slots);
  std::vector<std::uint32_t> inside_until(n_slots, 0);
  std::vector<Open> open;
  Running<T> running = 0;
  std::size_t row = 0;
  const auto n = static_cast<std::uint32_t>(tree.size());
  while (row < contexts.size() && contexts[row] == 0) ++row;
  for (std::uint32_t c = 1; c < n; ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    while (!open.empty() && open.back().end <= c) {
      totals[open.back().slot] += running;
      open.pop_back();
    }
    const std::uint32_t slot = slots.of_frame[tree.frame[c]];
    const std::uint32_t own = slots.of_self.empty() ? slot : slots.of_self[c];
    if (slot != kNone && c >= inside_until[slot]) {
      inside_until[slot] = tree.subtree_end[c];
      totals[slot] -= running;
      open.push_back({tree.subtree_end[c], slot});
    }
    for (; row < contexts.size() && contexts[row] == c; ++row) {
      const T value = values[row];
      if constexpr (std::is_same_v<T, double>) {
        if (!std::isfinite(value)) continue;
      }
      running += value;
      if (own != kNone) selves[own] += value;
    }
  }
  for (; !open.empty(); open.pop_back()) totals[open.back().slot] += running;
  for (std::size_t slot = 0; slot < n_slots; ++slot) {
    self[slot] = Value(narrowed(selves[slot]));
    total[slot] = Value(narrowed(totals[slot]));
  }
  return {};
}

// What the source states of the calls made there, on top of what runs there. False: it does not say, or
// not of every call.
bool add_stated_calls(const StatedCosts::Calls& calls, MetricId metric,
                      const std::vector<std::uint32_t>& slot_of_frame, const std::vector<Value>& self,
                      std::vector<Value>& total) {
  if (!is_stated(calls.totals, metric)) return false;
  std::vector<Value> sums = self;
  const bool all = std::visit(
      [&]<class T>(const Column<T>& costs) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
          const std::uint32_t slot = calls.caller[i] == kNone ? kNone : slot_of_frame[calls.caller[i]];
          if (slot == kNone) continue;
          if (calls.known[i] == 0) return false;
          T* const sum = std::get_if<T>(&sums[slot]);
          if (sum == nullptr) return false;
          if (std::isfinite(static_cast<double>(costs[i]))) add_saturating(*sum, costs[i]);
        }
        return true;
      },
      calls.totals[metric.v]);
  if (all) total = std::move(sums);
  return all;
}

// A slot has what its both sides have there, whatever contexts that is in.
void evaluate_sides(const Composition& composition, SlotSums& sums) {
  for (std::size_t m = 0; m < composition.metrics.size(); ++m) {
    const ComposedMetric& metric = composition.metrics[m];
    if (!is_by_path(metric.role)) continue;
    for (auto* columns : {&sums.self, &sums.total})
      for (std::size_t slot = 0; slot < (*columns)[m].size(); ++slot)
        (*columns)[m][slot] =
            value_of_sides(metric.role, (*columns)[metric.before.v][slot], (*columns)[metric.after.v][slot]);
  }
}

}  // namespace

Result<SlotSums> sum_slots(const Selection& selection, std::vector<std::uint32_t> slot_of_frame,
                           std::size_t n_slots, StopToken& stop, Executor& executor) {
  const Profile& profile = *selection.profile;
  const SelfTable& self = selection.rows->self;
  PROFD_TRY(const Slots slots, slots_in(selection, std::move(slot_of_frame), stop));
  // Stated values are of everything, not of what filters leave.
  const bool whole = self.contexts.data() == profile.self().contexts.data() &&
                     selection.boxes->hidden.empty() && selection.boxes->keys->groups.empty();
  const std::size_t n_metrics = self.values.size();
  SlotSums sums;
  sums.self.assign(n_metrics, std::vector<Value>(n_slots));
  sums.total.assign(n_metrics, std::vector<Value>(n_slots));
  sums.estimated.assign(n_metrics, 0);
  std::vector<Result<void>> swept(n_metrics);
  executor.run(n_metrics, [&](std::size_t m) {
    StopToken own = stop;
    std::vector<Value>& total = sums.total[m];
    swept[m] = std::visit(
        [&](const auto& values) {
          return sum_metric(profile, self.contexts, values, slots, sums.self[m], total, own);
        },
        self.values[m]);
    if (!swept[m]) return;
    const MetricId metric{m};
    const bool stated =
        profile.stated() != nullptr && whole &&
        add_stated_calls(profile.stated()->calls, metric, slots.of_frame, sums.self[m], total);
    const bool counted = counts_calls(profile, metric);
    if (counted) total = sums.self[m];
    sums.estimated[m] = profile.contexts_estimated() && !stated && !counted ? 1 : 0;
  });
  for (const Result<void>& one : swept) PROFD_CHECK(one);
  if (profile.composition() != nullptr) evaluate_sides(*profile.composition(), sums);
  return sums;
}

}  // namespace profd
