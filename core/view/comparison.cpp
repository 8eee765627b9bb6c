#include "core/view/comparison.h"

#include <utility>

namespace profd {

Result<ComparisonPtr> compare(const SelectionPtr& before, const SelectionPtr& after, const StopToken& stop) {
  const std::array<SelectionPtr, 2> sides{before, after};
  const std::array<KeyedProfile, 2> inputs{KeyedProfile{before->profile.get(), before->boxes->keys},
                                           KeyedProfile{after->profile.get(), after->boxes->keys}};
  auto out = std::make_shared<Comparison>();
  PROFD_TRY(out->joint, join_keys(inputs));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    PROFD_CHECK(stop.status());
    PROFD_TRY(out->sides[i], with_keys(sides[i], out->joint.keys[i], stop));
  }
  return ComparisonPtr(std::move(out));
}

}  // namespace profd
