// The sets of frames and the rules of tips that hold for a workspace: those that come with profd, data in
// server/engine/rules/, and those of settings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/view/frame_sets.h"
#include "server/engine/tip_rule.h"

namespace profd {

// Those that come with profd.
std::vector<FrameSet> built_in_sets();
std::vector<TipRule> built_in_tips();

// `own`: of settings. One of a name that profd has adds to that; others go before those of profd. `mine`
// decides what is the user's own code; null: nobody knows. Where the user's own cannot be used together,
// `said` is told why, and those of profd hold alone.
FrameSetsPtr frame_sets(std::vector<FrameSet> own, std::shared_ptr<const FrameRule> mine,
                        const std::function<void(const std::string&)>& said = {});

// Gives the filters by sets what they mean; the sets are asked for only where there is one.
void decide_sets(std::vector<Filter>& filters, const std::function<FrameSetsPtr()>& sets);

}  // namespace profd
