// MarkerTimes: when the markers run that a filter means. One of a thread counts for the samples of that
// thread, one of no thread for all. What took no time runs never; one whose end is not known runs for good.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"
#include "core/view/time_set.h"

namespace profd {

class MarkerTimes {
 public:
  // `filter` is by marker.
  static Result<MarkerTimes> of(const Profile& profile, const Filter& filter, const StopToken& stop);

  // Ascending, apart from each other. kNone: while one of no thread runs.
  [[nodiscard]] std::span<const TimeInterval> of_thread(std::uint32_t thread) const;
  // Some of them are of a thread: nobody knows whether they run for a sample without one.
  [[nodiscard]] bool by_thread() const { return by_thread_; }

 private:
  std::vector<std::uint32_t> first_;  // by thread, that of none last; one more
  std::vector<TimeInterval> intervals_;
  bool by_thread_ = false;
};

// The moments that all filters by time or marker let through, by thread.
struct ThreadTimes {
  std::vector<TimeSet> sets;  // by thread, that of none last; one for all where no filter is by marker
  bool by_thread = false;     // a filter that keeps means markers of threads

  [[nodiscard]] const TimeSet& of(std::uint32_t thread) const {
    return sets[std::min<std::size_t>(thread, sets.size() - 1)];
  }
};
// Fails as TimeSet::of does, and for a pattern that is none.
Result<ThreadTimes> times_of(const Profile& profile, std::span<const Filter> filters, const StopToken& stop);

}  // namespace profd
