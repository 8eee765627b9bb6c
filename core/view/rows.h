// Rows: which self rows of a profile its `keep` and `drop` filters let through, in every metric. They decide
// per sample or per whole stack (every frame of it counts, hidden ones too).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"

namespace profd {

struct Rows {
  ProfilePtr profile;
  SelfTable self;                     // rows that passed; shares the profile's own table when nothing filters
  std::vector<Filter> filters;        // the keep and drop filters, names in full
  std::vector<std::string> warnings;  // of filters that match nothing
  // By metric, of the whole profile: what filters by thread, label or time leave out because nobody knows
  // where it belongs: values that belong to no sample, samples without a thread or a time. Empty without such
  // filters.
  std::vector<Value> excluded;
  bool clamped = false;  // some value is not the profile's own and did not fit; sums of it are saturated

  // Bytes of its own: what it shares with the profile does not count.
  [[nodiscard]] std::size_t memory() const;
};
using RowsPtr = std::shared_ptr<const Rows>;

// `filters`: keep and drop, names in full (with_whole_names). Fails with `invalid` when one cannot be
// applied.
Result<RowsPtr> make_rows(const ProfilePtr& profile, std::vector<Filter> filters, StopToken stop);

}  // namespace profd
