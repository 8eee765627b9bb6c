// The samples of one input of a diff, in windows of its time: what tells how they cluster (dispersion.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/compare/dispersion.h"
#include "core/model/composition.h"
#include "core/model/profile.h"
#include "core/support/stop.h"

namespace profd {

// The time of samples from the first to the last, in kWindows parts.
struct TimeWindows {
  double first = 0, width = 1;  // ns
  [[nodiscard]] std::size_t of(std::int64_t time) const {
    const double at = (static_cast<double>(time) - first) / width;
    return std::min(kWindows - 1, static_cast<std::size_t>(std::max(0.0, at)));
  }
};
// Nothing where some sample has no time, as those left would seem to cluster less than they do, or all have
// the same.
std::optional<TimeWindows> time_windows(const SampleTable& samples);

struct WindowedSample {
  std::uint32_t number, context;  // the sample, its context of the composed profile
  std::size_t window;
  double count;  // > 0
};
// Calls `visit` with every sample in turn. `metric` of the input, kNone none, times `factor` counts samples.
// False, and no call: the input does not tell when they were taken. Fails when it is stopped.
template <class Visit>
Result<bool> for_each_in_windows(const ComposedInput& input, std::uint32_t metric, double factor,
                                 StopToken& stop, Visit visit) {
  const SampleTable* const samples = input.profile ? input.profile->samples() : nullptr;
  if (samples == nullptr || input.context_of.empty() || metric == kNone) return false;
  const auto windows = time_windows(*samples);
  if (!windows) return false;
  for (std::uint32_t i = 0; i < samples->size(); ++i) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const double count =
        factor * std::visit([&](const auto& values) { return static_cast<double>(values[i]); },
                            samples->values[metric]);
    if (count > 0)
      visit(WindowedSample{i, input.context_of[samples->context[i]], windows->of(samples->time[i]), count});
  }
  return true;
}

}  // namespace profd
