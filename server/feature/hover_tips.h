// A hover with the tips of its profile that have to do with the function it is about.
#pragma once

#include <optional>

#include "server/feature/hover.h"
#include "server/feature/tips.h"

namespace profd {

struct HoverTips {
  FrameSetsPtr sets;
  TipRules rules;
};

// As hover_at(). Tips of a profile that is too big to look through while somebody waits are left out.
Result<std::optional<Hover>> hover_with_tips(Views& views, const HoverRequest& request, const HoverTips& tips,
                                             const StopToken& stop);

}  // namespace profd
