#include "core/source/annotations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/view/stated.h"

namespace profd {
namespace {

struct LineKey {
  std::uint32_t file = 0, line = 0;
  auto operator<=>(const LineKey&) const = default;
};

struct LineSums {
  std::vector<std::vector<Value>> self, total;  // [metric][slot]
  std::vector<std::uint8_t> estimated;          // [metric]
};

// Running sums may pass int64 on the way; a wider type keeps every difference exact.
template <class T>
using Running = std::conditional_t<std::is_same_v<T, double>, long double, __int128_t>;

std::int64_t narrowed(__int128_t sum) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (sum > Limits::max()) return Limits::max();
  if (sum < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(sum);
}
double narrowed(long double sum) {
  return static_cast<double>(sum);
}

// Which line each frame and each context counts for; kNone: none.
struct Slots {
  std::vector<std::uint32_t> of_frame;
  std::vector<std::uint32_t> of_self;  // by context; empty: that of its frame
};

// Frames that a filter hides or makes part of a group are on no line. What was measured in a hidden one is
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

// An outermost context of a line that the sweep is inside of.
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

// What the source states of the calls made on a line, on top of what runs there. False: it does not say, or
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

// A line has what its both sides have there, whatever contexts that is in.
void evaluate_sides(const Composition& composition, LineSums& sums) {
  for (std::size_t m = 0; m < composition.metrics.size(); ++m) {
    const ComposedMetric& metric = composition.metrics[m];
    if (!is_by_path(metric.role)) continue;
    for (auto* columns : {&sums.self, &sums.total})
      for (std::size_t slot = 0; slot < (*columns)[m].size(); ++slot)
        (*columns)[m][slot] =
            value_of_sides(metric.role, (*columns)[metric.before.v][slot], (*columns)[metric.after.v][slot]);
  }
}

// The metrics beside each other: each is a sweep of its own.
Result<LineSums> sum_lines(const Selection& selection, std::vector<std::uint32_t> slot_of_frame,
                           std::size_t n_slots, StopToken& stop, Executor& executor) {
  const Profile& profile = *selection.profile;
  const SelfTable& self = selection.rows->self;
  PROFD_TRY(const Slots slots, slots_in(selection, std::move(slot_of_frame), stop));
  // Stated values are of everything, not of what filters leave.
  const bool whole = self.contexts.data() == profile.self().contexts.data() &&
                     selection.boxes->hidden.empty() && selection.boxes->keys->groups.empty();
  const std::size_t n_metrics = self.values.size();
  LineSums sums;
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

std::size_t bytes_of(const std::vector<std::vector<Value>>& columns) {
  std::size_t bytes = 0;
  for (const auto& column : columns) bytes += sizeof(column) + column.size() * sizeof(Value);
  return bytes;
}

}  // namespace

Result<LineValues> annotate_lines(const Selection& selection, const std::vector<StringId>& files,
                                  StopToken stop) {
  const Profile& profile = *selection.profile;
  const FrameTable& frames = profile.frames();
  const auto is_wanted = [&](std::size_t frame) {
    return frames.line[frame] != 0 &&
           std::find(files.begin(), files.end(), file_of_frame(profile, frame)) != files.end();
  };
  LineValues out;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (is_wanted(f)) out.line.push_back(frames.line[f]);
  }
  std::sort(out.line.begin(), out.line.end());
  out.line.erase(std::unique(out.line.begin(), out.line.end()), out.line.end());
  std::vector<std::uint32_t> slot_of_frame(frames.size(), kNone);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!is_wanted(f)) continue;
    const auto at = std::lower_bound(out.line.begin(), out.line.end(), frames.line[f]);
    slot_of_frame[f] = static_cast<std::uint32_t>(at - out.line.begin());
  }
  SerialExecutor serial;
  PROFD_TRY(LineSums sums, sum_lines(selection, std::move(slot_of_frame), out.line.size(), stop, serial));
  out.self = std::move(sums.self);
  out.total = std::move(sums.total);
  out.estimated = std::move(sums.estimated);
  return out;
}

StringId file_of_frame(const Profile& profile, std::size_t frame) {
  const StringId file = profile.frames().file[frame];
  return file.v != 0 ? file : profile.functions().file[profile.frames().function[frame].v];
}

std::size_t LineValues::memory() const {
  return line.size() * sizeof(std::uint32_t) + bytes_of(self) + bytes_of(total) + is_function.size();
}
std::size_t LineIndex::memory() const {
  return file.size() * 2 * sizeof(std::uint32_t) + bytes_of(self) + bytes_of(total);
}

Result<LineIndex> make_line_index(const Selection& selection, StopToken stop, Executor& executor) {
  const Profile& profile = *selection.profile;
  const FrameTable& frames = profile.frames();
  std::vector<std::uint32_t> located;  // frames with a file and a line
  const auto key_of = [&](std::uint32_t f) { return LineKey{file_of_frame(profile, f).v, frames.line[f]}; };
  for (std::uint32_t f = 0; f < frames.size(); ++f) {
    if (key_of(f).file != 0 && key_of(f).line != 0) located.push_back(f);
  }
  std::sort(located.begin(), located.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
  LineIndex index;
  std::vector<std::uint32_t> slot_of_frame(frames.size(), kNone);
  for (std::uint32_t f : located) {
    const LineKey key = key_of(f);
    if (index.file.empty() || index.file.back().v != key.file || index.line.back() != key.line) {
      index.file.emplace_back(key.file);
      index.line.push_back(key.line);
    }
    slot_of_frame[f] = static_cast<std::uint32_t>(index.file.size() - 1);
  }
  PROFD_TRY(LineSums sums, sum_lines(selection, std::move(slot_of_frame), index.file.size(), stop, executor));
  index.self = std::move(sums.self);
  index.total = std::move(sums.total);
  index.estimated = std::move(sums.estimated);
  return index;
}

Result<LineValues> annotate_lines(const Selection& selection, const LineIndex& index,
                                  const std::vector<StringId>& files, StopToken stop) {
  std::vector<StringId> distinct(files);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::uint32_t> rows;
  for (StringId file : distinct) {
    const auto [begin, end] = std::equal_range(index.file.begin(), index.file.end(), file);
    for (auto at = begin; at != end; ++at)
      rows.push_back(static_cast<std::uint32_t>(at - index.file.begin()));
  }
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index.line[a] < index.line[b]; });
  const auto shared = std::adjacent_find(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return index.line[a] == index.line[b];
  });
  if (shared != rows.end()) return annotate_lines(selection, distinct, std::move(stop));
  LineValues out;
  for (std::uint32_t row : rows) out.line.push_back(index.line[row]);
  const auto pick = [&](const std::vector<std::vector<Value>>& from, std::vector<std::vector<Value>>& to) {
    for (const auto& column : from) {
      auto& picked = to.emplace_back();
      for (std::uint32_t row : rows) picked.push_back(column[row]);
    }
  };
  pick(index.self, out.self);
  pick(index.total, out.total);
  out.estimated = index.estimated;
  return out;
}

Result<FrameSelfs> selfs_by_frame(const Selection& selection, StopToken stop) {
  const ContextTree& tree = selection.profile->tree();
  const SelfTable& self = selection.rows->self;
  return std::visit(
      [&]<class T>(const Column<T>& values) -> Result<FrameSelfs> {
        std::vector<Running<T>> sums(selection.profile->frames().size());
        for (std::size_t row = 0; row < values.size(); ++row) {
          if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
          std::uint32_t context = self.contexts[row];
          while (context != 0 && !selection.boxes->hidden.empty() &&
                 selection.boxes->hidden[tree.frame[context]] != 0)
            context = tree.parent[context];
          if (context == 0) continue;
          if constexpr (std::is_same_v<T, double>) {
            if (!std::isfinite(values[row])) continue;
          }
          sums[tree.frame[context]] += values[row];
        }
        FrameSelfs out;
        out.self.reserve(sums.size());
        for (const Running<T> sum : sums) out.self.emplace_back(narrowed(sum));
        return out;
      },
      self.values[selection.metric().v]);
}

}  // namespace profd
