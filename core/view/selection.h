// Selection: what the filters of a spec let through, the first stage of every view.
// Sample filters and keep / drop decide per sample or per stack; hide and collapse are left as flags by frame
// for the shapes to apply. Totals are swept once here and shared by every view on the same selection.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"

namespace profd {

struct Selection {
  ProfilePtr profile;
  MetricId metric;
  std::shared_ptr<const KeyTable> keys;
  SelfTable self;      // rows that passed; shares the profile's own table when nothing filters
  ValueColumn totals;  // by context: sum of selves in its subtree
  // By context, Σ|self| of the subtree: what layouts use for width. Shares `totals` when no self is negative.
  ValueColumn widths;
  std::vector<std::uint8_t> hidden;    // by FrameId; empty when nothing is hidden
  std::vector<std::uint8_t> collapse;  // by FrameId: 0 no, n = member of collapse group n; empty when unused
  bool collapse_recursion = false;
  bool saturated = false;
  Value total;          // of what passed
  Value profile_total;  // of everything
  std::size_t memory() const;
};

using SelectionPtr = std::shared_ptr<const Selection>;

Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop);

}  // namespace profd
