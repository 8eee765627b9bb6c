// What became of a profile that was recorded again, in a sentence or two: enough to know whether the diff is
// worth a look.
#pragma once

#include <string>

#include "core/support/executor.h"
#include "server/engine/open_profile.h"

namespace profd {

// `before`: what it was before (Engine::previous), or another recording of the same. `called`: what it is called
// there. Names are as they are, with whatever a profile holds.
// `invalid`: the recording before has no such profile among several, or none of its metrics.
Result<std::string> recorded_again_text(const OriginPtr& before, const OpenProfile& now,
                                        const std::string& called, Executor& executor, const StopToken& stop);

// Which profile of its origin it is, where that has several: by name, as the place may be another one in
// another recording; "" there is one.
std::string member_of(const OpenProfile& open);

}  // namespace profd
