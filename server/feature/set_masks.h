// Which sets the frames of an open profile are in, and what of a view belongs to them: worked out once and
// kept with the profile's views.
#pragma once

#include <memory>
#include <vector>

#include "core/view/frame_sets.h"
#include "core/view/set_sums.h"
#include "server/engine/views.h"

namespace profd {

inline constexpr SetMask kAllSets = ~SetMask{0};

struct FrameMasks {
  std::vector<SetMask> of_frame;
  [[nodiscard]] std::size_t memory() const { return sizeof(*this) + of_frame.size() * sizeof(SetMask); }
};
// Sets that are not `wanted` may be left out.
Result<std::shared_ptr<const FrameMasks>> masks_of(Views& views, const OpenProfile& open,
                                                   const FrameSets& sets, SetMask wanted,
                                                   const StopToken& stop);

struct StackClasses {
  std::vector<StackClass> classes;
  [[nodiscard]] std::size_t memory() const { return sizeof(*this) + classes.size() * sizeof(StackClass); }
};
// Not of selections that are divided.
Result<std::shared_ptr<const StackClasses>> classes_of(Views& views, const OpenProfile& open,
                                                       const ViewSpec& spec, const FrameSets& sets,
                                                       SetMask wanted, const StopToken& stop);

}  // namespace profd
