#include "core/view/boxes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/view/filters.h"
#include "core/view/joint_keys.h"
#include "core/view/key_memo.h"
#include "core/view/rename_rules.h"

namespace profd {
namespace {

constexpr const char* kOthers = "(other code)";

// Which frames are hidden, and which key every other one has once collapse groups are made.
Result<void> apply_frame_filters(const Profile& profile, Boxes& boxes, const StopToken& stop) {
  std::vector<std::uint32_t> group_of;
  std::vector<std::string> names;
  for (const Filter& filter : boxes.filters) {
    if (filter.op == FilterOp::collapse && filter.by == FilterBy::recursion) {
      boxes.collapse_recursion = true;
    } else if (filter.op == FilterOp::hide) {
      PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
      warn_unless(any_set(match), filter, boxes.warnings);
      boxes.hidden.resize(match.size(), 0);
      for (std::size_t f = 0; f < match.size(); ++f) boxes.hidden[f] |= match[f];
    } else if (filter.op == FilterOp::collapse) {
      PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
      warn_unless(any_set(match), filter, boxes.warnings);
      group_of.resize(match.size(), 0);
      names.push_back(filter.by == FilterBy::mine ? kOthers
                      : filter.regex              ? "/" + filter.pattern + "/"
                                                  : filter.pattern);
      for (std::size_t f = 0; f < match.size(); ++f) {
        if (match[f] != 0 && group_of[f] == 0) group_of[f] = static_cast<std::uint32_t>(names.size());
      }
    }
  }
  if (!names.empty())
    boxes.keys = std::make_shared<const KeyTable>(with_groups(profile, *boxes.keys, group_of, names));
  if (std::none_of(boxes.hidden.begin(), boxes.hidden.end(), [](auto h) { return h != 0; }))
    boxes.hidden = {};
  return {};
}

Result<void> find_owners(const ContextTree& tree, Boxes& boxes, StopToken& stop) {
  const KeyTable& keys = *boxes.keys;
  if (boxes.hidden.empty() && keys.groups.empty() && !boxes.collapse_recursion) return {};
  const std::size_t first_group = keys.first_group();
  std::vector<std::uint32_t> owner(tree.size(), 0);
  for (std::uint32_t c = 1; c < owner.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t above = owner[tree.parent[c]];
    const std::uint32_t frame = tree.frame[c];
    const Key key = keys.of_frame[frame];
    const bool hidden = !boxes.hidden.empty() && boxes.hidden[frame] != 0;
    const bool folds = (boxes.collapse_recursion || key >= first_group) && above != 0 &&
                       keys.of_frame[tree.frame[above]] == key;
    owner[c] = hidden || folds ? above : c;
  }
  boxes.owner = Column<std::uint32_t>(std::move(owner));
  return {};
}

}  // namespace

std::size_t Boxes::memory() const {
  return sizeof(Boxes) + (parts.empty() ? keys->memory() : 0) + hidden.size() + owner.bytes() +
         memo->memory();
}

Result<BoxesPtr> make_boxes(const ProfilePtr& profile, Granularity granularity, std::vector<Filter> filters,
                            const PartsOf& kept, StopToken stop) {
  auto boxes = std::make_shared<Boxes>();
  boxes->profile = profile;
  boxes->filters = std::move(filters);
  boxes->memo = std::make_shared<KeyMemo>();
  const ViewKey key = kept.key("keys " + std::string(to_text(granularity)));
  PROFD_TRY(
      const std::shared_ptr<const KeyTable> names,
      kept.get<KeyTable>(key, stop, [&](const StopToken& own) -> Result<std::shared_ptr<const KeyTable>> {
        auto made = std::make_shared<const KeyTable>(make_keys(*profile, granularity));
        if (profile->composition() == nullptr) return made;
        PROFD_TRY(JoinedKeys joined, joined_keys(*profile, std::move(made), profile->matching(), own));
        return joined.keys;
      }));
  boxes->keys = names;
  if (const Matching* const matching = profile->matching())
    for (std::size_t rule = 0; rule < matching->n_renamed.size(); ++rule)
      if (matching->n_renamed[rule] == 0)
        boxes->warnings.push_back(fmt::format("the rule {} is of no name that only the side before has",
                                              to_text(matching->rules.renames[rule])));
  PROFD_CHECK(apply_frame_filters(*profile, *boxes, stop));
  if (boxes->keys == names) boxes->parts.push_back(key);
  PROFD_CHECK(find_owners(profile->tree(), *boxes, stop));
  return BoxesPtr(std::move(boxes));
}

Result<BoxesPtr> boxes_with_keys(const Boxes& boxes, std::shared_ptr<const KeyTable> keys, StopToken stop) {
  auto out = std::make_shared<Boxes>(boxes);
  out->keys = std::move(keys);
  out->owner = {};
  out->memo = std::make_shared<KeyMemo>();
  out->parts.clear();
  PROFD_CHECK(find_owners(out->profile->tree(), *out, stop));
  return BoxesPtr(std::move(out));
}

}  // namespace profd
