#include "core/view/match_functions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/model/profile_builder.h"
#include "core/view/by_path.h"
#include "core/view/joint_keys.h"
#include "core/view/path_classes.h"
#include "core/view/renamed_functions.h"

namespace profd {

namespace {

// What the views by function of the diff will take for one path, as far as `matching` says.
struct Matched {
  JoinedKeys joined;
  PathClasses classes;
};

Result<Matched> matched(const Profile& diff, const std::shared_ptr<const KeyTable>& keys,
                        const Matching& matching, const StopToken& stop) {
  Matched out;
  PROFD_TRY(out.joined, joined_keys(diff, keys, &matching, stop));
  PROFD_TRY(out.classes, classes_of(diff.tree(), *out.joined.keys, stop));
  return out;
}

}  // namespace

Result<ProfilePtr> with_matching(const ProfilePtr& diff, MatchRules rules, Executor& executor,
                                 StopToken stop) {
  const auto matching = std::make_shared<Matching>();
  matching->rules = std::move(rules);
  const bool applied = matching->rules.mode == MatchMode::suggested;
  const auto keys = std::make_shared<const KeyTable>(make_keys(*diff, Granularity::function));
  PROFD_TRY(Matched plain, matched(*diff, keys, *matching, stop));
  matching->n_renamed = std::move(plain.joined.n_renamed);
  matching->n_by_name = plain.joined.n_by_name;
  std::optional<Matched> deeper;
  for (std::size_t level = 0; level < kMostRenamedLevels; ++level) {
    const Matched& so_far = deeper ? *deeper : plain;
    PROFD_TRY(RenamedFunctions found, renamed_functions(*diff, so_far.joined, so_far.classes, stop));
    matching->n_not_looked_at = std::max(matching->n_not_looked_at, found.n_not_looked_at);
    if (found.pairs.empty()) break;
    for (Suggestion& pair : found.pairs) {
      matching->same.emplace_back(pair.before, pair.after);
      matching->suggested.push_back(std::move(pair));
    }
    // What is applied is what the views will have, whether or not there is a level below.
    if (!applied && level + 1 == kMostRenamedLevels) break;
    PROFD_TRY(deeper, matched(*diff, keys, *matching, stop));
  }
  std::stable_sort(matching->suggested.begin(), matching->suggested.end(),
                   [](const Suggestion& a, const Suggestion& b) { return a.share > b.share; });
  if (!applied) matching->same.clear();
  ProfileData data = diff->data();
  data.matching = matching;
  PROFD_CHECK(take_values_by_path(data, (applied && deeper ? *deeper : plain).classes, executor, stop));
  ProfileBuilder builder;
  builder.info() = data.info;
  builder.adopt(std::move(data));
  return std::move(builder).finish(executor, std::move(stop));
}

}  // namespace profd
