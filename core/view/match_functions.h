// Matching the functions of a diff as somebody asked for: rules that rename, names alone, what is perhaps
// renamed.
#pragma once

#include "core/model/matching.h"
#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// Below what is perhaps renamed there may be more; so deep it is looked for.
inline constexpr std::size_t kMostRenamedLevels = 8;

// The diff (asserted) with Profile::matching(), which its views take for what is one function, and with the
// values by path that are so (take_values_by_path). Fails as RenameRules does, and with `cancelled` when
// stopped.
Result<ProfilePtr> with_matching(const ProfilePtr& diff, MatchRules rules, Executor& executor,
                                 StopToken stop);

}  // namespace profd
