#include "core/view/series.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/view/path_classes.h"

namespace profd {
namespace {

Result<void> check_series(const Selection& selection) {
  const auto& filters = selection.rows->filters;
  if (std::any_of(filters.begin(), filters.end(),
                  [](const Filter& filter) { return filters_samples(filter); }))
    return fail(ErrorCode::invalid,
                "what each profile has is known without filters by thread, label and time");
  return {};
}

// Visits every row of values whose context passes: visit(context, its first entry, the end of its entries).
template <class Visit>
Result<void> for_each_row(const Selection& selection, const InputValues& values, StopToken& stop,
                          Visit visit) {
  const Column<std::uint32_t>& contexts = selection.profile->composition()->contexts;
  // What rows let through is told by contexts; those that cancel out over the inputs have no row there.
  const bool all = selection.rows->filters.empty();
  std::vector<std::uint8_t> passes;
  if (!all) {
    passes.assign(selection.profile->tree().size(), 0);
    for (const std::uint32_t context : selection.rows->self.contexts) passes[context] = 1;
  }
  for (std::size_t row = 0; row < contexts.size(); ++row) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (values.first[row] == values.first[row + 1] || (!all && passes[contexts[row]] == 0)) continue;
    visit(contexts[row], values.first[row], values.first[row + 1]);
  }
  return {};
}

double value_at(const InputValues& values, std::uint32_t entry) {
  return std::visit([&](const auto& column) { return static_cast<double>(column[entry]); }, values.value);
}

}  // namespace

Result<KeySeries> series_of_keys(const Selection& selection, std::uint32_t of, std::span<const Key> keys,
                                 StopToken stop) {
  PROFD_CHECK(check_series(selection));
  const ContextTree& tree = selection.profile->tree();
  const Composition& composition = *selection.profile->composition();
  const InputValues& values = composition.of[of].values;
  const KeyTable& table = *selection.boxes->keys;
  KeySeries out;
  out.n_inputs = composition.inputs.size();
  out.self.assign(keys.size() * out.n_inputs, 0);
  out.total.assign(keys.size() * out.n_inputs, 0);
  std::vector<std::uint32_t> slot_of(table.n_keys(), kNone), seen(keys.size(), kNone);
  for (std::uint32_t i = 0; i < keys.size(); ++i) slot_of[keys[i]] = i;
  PROFD_CHECK(for_each_row(selection, values, stop,
                           [&](std::uint32_t context, std::uint32_t begin, std::uint32_t end) {
                             bool leaf = true;
                             for (std::uint32_t at = selection.boxes->owner_of(context); at != 0;
                                  at = selection.boxes->owner_of(tree.parent[at])) {
                               const std::uint32_t slot = slot_of[table.of_frame[tree.frame[at]]];
                               const bool is_leaf = std::exchange(leaf, false);
                               if (slot == kNone) continue;
                               const bool again = std::exchange(seen[slot], context) == context;
                               for (std::uint32_t entry = begin; entry < end; ++entry) {
                                 const double value = value_at(values, entry);
                                 const std::size_t place = slot * out.n_inputs + values.input[entry];
                                 if (is_leaf) out.self[place] += value;
                                 if (!again) out.total[place] += value;
                               }
                             }
                           }));
  return out;
}

Result<PathSeries> series_of_paths(const Selection& selection, std::uint32_t of, std::size_t most,
                                   StopToken stop) {
  PROFD_CHECK(check_series(selection));
  const Composition& composition = *selection.profile->composition();
  const InputValues& values = composition.of[of].values;
  PROFD_TRY(const PathClasses classes, classes_of(*selection.boxes, stop));
  PathSeries out;
  out.n_inputs = composition.inputs.size();
  std::vector<std::uint32_t> slot_of(classes.size(), kNone);
  bool too_many = false;
  PROFD_CHECK(for_each_row(selection, values, stop,
                           [&](std::uint32_t context, std::uint32_t begin, std::uint32_t end) {
                             std::uint32_t& slot = slot_of[classes.of_context[context]];
                             if (slot == kNone) {
                               if ((out.context.size() + 1) * out.n_inputs > most) {
                                 too_many = true;
                                 return;
                               }
                               slot = static_cast<std::uint32_t>(out.context.size());
                               out.context.push_back(classes.first[classes.of_context[context]]);
                               out.self.resize(out.self.size() + out.n_inputs, 0);
                             }
                             for (std::uint32_t entry = begin; entry < end; ++entry)
                               out.self[slot * out.n_inputs + values.input[entry]] += value_at(values, entry);
                           }));
  if (too_many)
    return fail(
        ErrorCode::limit,
        fmt::format("more paths than {} numbers hold for {} profiles; look at fewer of them, or at what a "
                    "filter keeps",
                    most, out.n_inputs));
  return out;
}

}  // namespace profd
