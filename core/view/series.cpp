#include "core/view/series.h"

#include <algorithm>
#include <unordered_map>
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

// The keys of the boxes that the stack of a context leads through in a view, from below its root.
class StackInView {
 public:
  StackInView(const Selection& selection, Shape shape, const std::vector<Key>& focus)
      : selection_(selection), shape_(shape), focus_(focus) {}

  // False where the view does not have the stack.
  bool read(std::uint32_t context, std::vector<Key>& out) const {
    const ContextTree& tree = selection_.profile->tree();
    const Boxes& boxes = *selection_.boxes;
    out.clear();
    for (std::uint32_t at = boxes.owner_of(context); at != 0; at = boxes.owner_of(tree.parent[at]))
      out.push_back(boxes.keys->of_frame[tree.frame[at]]);
    if (shape_ == Shape::bottom_up) return true;
    std::reverse(out.begin(), out.end());
    if (shape_ == Shape::top_down) return true;
    if (shape_ == Shape::callees) {
      // Below the last occurrence.
      const auto found = std::find_end(out.begin(), out.end(), focus_.begin(), focus_.end());
      if (found == out.end()) return false;
      out.erase(out.begin(), found + static_cast<std::ptrdiff_t>(focus_.size()));
      return true;
    }
    const auto found = std::search(out.begin(), out.end(), focus_.begin(), focus_.end());
    if (found == out.end()) return false;
    out.erase(found, out.end());
    std::reverse(out.begin(), out.end());
    return true;
  }

 private:
  const Selection& selection_;
  Shape shape_;
  const std::vector<Key>& focus_;
};

}  // namespace

Result<KeySeries> series_of_boxes(const Selection& selection, std::uint32_t of, Shape shape,
                                  const std::vector<Key>& focus, const BoxPaths& boxes, std::size_t first,
                                  StopToken stop) {
  PROFD_CHECK(check_series(selection));
  if (shape == Shape::flat) return fail(ErrorCode::invalid, "a flat view has no boxes");
  if ((shape == Shape::callers || shape == Shape::callees) && focus.empty())
    return fail(ErrorCode::invalid, "callers and callees are those of something");
  if (selection.divided)
    return fail(ErrorCode::invalid,
                "what each profile has of a path is not known: these have calls, not stacks");
  const Composition& composition = *selection.profile->composition();
  const InputValues& values = composition.of[of].values;
  KeySeries out;
  out.n_inputs = composition.inputs.size();
  first = std::min(first, boxes.size());
  out.self.assign((boxes.size() - first) * out.n_inputs, 0);
  out.total.assign(out.self.size(), 0);
  const auto step = [](std::uint32_t box, Key key) { return std::uint64_t{box} << 32 | key; };
  std::unordered_map<std::uint64_t, std::uint32_t> child;
  for (std::uint32_t box = 0; box < boxes.size(); ++box)
    if (boxes.parent[box] != kNone && boxes.key[box] != kNone)
      child.emplace(step(boxes.parent[box], boxes.key[box]), box);
  const StackInView stack_in_view(selection, shape, focus);
  std::vector<Key> stack;
  PROFD_CHECK(for_each_row(
      selection, values, stop, [&](std::uint32_t context, std::uint32_t begin, std::uint32_t end) {
        if (!stack_in_view.read(context, stack)) return;
        const auto add = [&](std::vector<double>& to, std::uint32_t box) {
          if (box < first) return;
          for (std::uint32_t entry = begin; entry < end; ++entry)
            to[(box - first) * out.n_inputs + values.input[entry]] += value_at(values, entry);
        };
        std::uint32_t box = 0;
        add(out.total, box);
        for (const Key key : stack) {
          const auto below = child.find(step(box, key));
          if (below == child.end()) return;
          box = below->second;
          add(out.total, box);
        }
        add(out.self, box);
      }));
  return out;
}

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
