#include "core/view/match_functions.h"

#include <algorithm>
#include <utility>

#include "core/model/profile_builder.h"
#include "core/view/joint_keys.h"
#include "core/view/renamed_functions.h"

namespace profd {

Result<ProfilePtr> with_matching(const ProfilePtr& diff, MatchRules rules, Executor& executor,
                                 StopToken stop) {
  const auto matching = std::make_shared<Matching>();
  matching->rules = std::move(rules);
  const auto keys = std::make_shared<const KeyTable>(make_keys(*diff, Granularity::function));
  for (std::size_t level = 0; level < kMostRenamedLevels; ++level) {
    PROFD_TRY(JoinedKeys joined, joined_keys(*diff, keys, matching.get(), stop));
    if (level == 0) {
      matching->n_renamed = std::move(joined.n_renamed);
      matching->n_by_name = joined.n_by_name;
    }
    PROFD_TRY(RenamedFunctions found, renamed_functions(*diff, joined, stop));
    matching->n_not_looked_at = std::max(matching->n_not_looked_at, found.n_not_looked_at);
    for (Suggestion& pair : found.pairs) {
      matching->same.emplace_back(pair.before, pair.after);
      matching->suggested.push_back(std::move(pair));
    }
    if (found.pairs.empty()) break;
  }
  std::stable_sort(matching->suggested.begin(), matching->suggested.end(),
                   [](const Suggestion& a, const Suggestion& b) { return a.share > b.share; });
  if (matching->rules.mode != MatchMode::suggested) matching->same.clear();
  ProfileData data = diff->data();
  data.matching = matching;
  ProfileBuilder builder;
  builder.adopt(std::move(data));
  return std::move(builder).finish(executor, std::move(stop));
}

}  // namespace profd
