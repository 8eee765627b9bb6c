#include "server/feature/box_sets.h"

#include <algorithm>
#include <utility>

#include "core/view/resolve.h"
#include "core/view/set_walk.h"
#include "server/feature/set_masks.h"

namespace profd {
namespace {

// The boxes of a layout that a run of frames lies on: from each box that ends it, as many up as it has
// frames. Bottom-up, a callee is above its caller.
void mark_runs(const Selection& selection, const std::vector<std::string>& names, bool upward,
               std::uint32_t bit, const FlameLayout& layout, std::vector<std::uint32_t>& out) {
  const Profile& profile = *selection.profile;
  std::vector<std::vector<std::uint8_t>> is(names.size());  // by Key
  for (std::size_t i = 0; i < names.size(); ++i) {
    is[i].assign(selection.boxes->keys->n_keys(), 0);
    const std::vector<std::uint8_t> frames = frames_called(profile, names[i]);
    for (std::size_t f = 0; f < frames.size(); ++f)
      if (frames[f] != 0) is[i][selection.boxes->keys->of_frame[f]] = 1;
  }
  for (std::uint32_t box = 0; box < layout.size(); ++box) {
    std::uint32_t at = box;
    std::size_t n = 0;
    for (; n < names.size() && at != kNone && layout.key[at] != kNoKey; ++n, at = layout.parent[at])
      if (is[upward ? n : names.size() - 1 - n][layout.key[at]] == 0) break;
    if (n < names.size()) continue;
    for (at = box; n > 0; --n, at = layout.parent[at]) out[at] |= bit;
  }
}

bool is_upward(Shape shape) {
  return shape == Shape::bottom_up || shape == Shape::callers;
}

}  // namespace

Result<std::vector<std::uint32_t>> highlights_of_boxes(Views& views, const OpenProfile& open,
                                                       const ViewSpec& spec,
                                                       const std::vector<NamedSet>& asked,
                                                       const FrameSets* sets, const FlameLayout& layout,
                                                       const StopToken& stop) {
  PROFD_TRY(const NamedSets named, find_named_sets(views, open, spec, asked, sets, stop));
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  std::vector<std::uint32_t> out(layout.size(), 0);
  for (std::uint32_t box = 0; box < layout.size(); ++box)
    if (layout.key[box] != kNoKey) out[box] = static_cast<std::uint32_t>(named.of_key[layout.key[box]]);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].frames.empty()) continue;
    Filter run;
    run.by = FilterBy::fragment;
    run.names = asked[i].frames;
    PROFD_TRY(const std::vector<Filter> whole, with_whole_names(*open.profile, {run}));
    mark_runs(*selection, whole.front().names, is_upward(spec.shape), std::uint32_t{1} << i, layout, out);
  }
  return out;
}

std::optional<int> hue_of(const BoxWork& work, std::uint32_t box) {
  const std::int32_t kind = work.work[box];
  return kind < 0 ? std::nullopt : std::optional<int>(work.kinds[static_cast<std::size_t>(kind)].hue);
}

Result<BoxWork> work_of_boxes(Views& views, const OpenProfile& open, const ViewSpec& spec,
                              const FrameSets& sets, const FlameLayout& layout, const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  PROFD_TRY(const auto masks, masks_of(views, open, sets, kAllSets, stop));
  const std::vector<SetMask> of_key = masks_of_keys(*selection->boxes->keys, masks->of_frame);
  const bool upward = is_upward(spec.shape);
  // Parents come before their boxes.
  std::vector<SetState> states(layout.size());
  std::vector<int> kind(layout.size(), -1);
  for (std::uint32_t box = 0; box < layout.size(); ++box) {
    if (layout.parent[box] != kNone) states[box] = states[layout.parent[box]];
    if (layout.key[box] == kNoKey) continue;
    SetState at = step(states[box], of_key[layout.key[box]], sets.rules());
    if (upward) {  // what is nearer to the leaf goes before
      if (states[box].kind >= 0) at.kind = states[box].kind;
      if (states[box].behind >= 0) at.behind = states[box].behind;
    }
    states[box] = at;
    kind[box] = at.kind_of_work();
  }
  BoxWork out;
  std::vector<std::int32_t> index(sets.sets().size(), -1);
  for (const int one : kind)
    if (one >= 0) index[static_cast<std::size_t>(one)] = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0) continue;
    index[i] = static_cast<std::int32_t>(out.kinds.size());
    const FrameSet& set = sets.sets()[i];
    out.kinds.push_back({set.name, set.title, set.hue.value_or(0)});
  }
  for (const int one : kind) out.work.push_back(one < 0 ? -1 : index[static_cast<std::size_t>(one)]);
  return out;
}

}  // namespace profd
