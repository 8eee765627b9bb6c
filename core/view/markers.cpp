#include "core/view/markers.h"

#include <limits>

namespace profd {

Markers Markers::of(const Profile& profile) {
  Markers out;
  out.timeline_ = profile.timeline();
  if (out.timeline_ == nullptr) return out;
  out.n_markers_ = out.timeline_->markers.size();
  const SpanTable& spans = out.timeline_->spans;
  for (std::uint32_t span = 0; span < spans.size(); ++span)
    if (value_or(spans.context, span, kNone) == kNone) out.spans_.push_back(span);
  return out;
}

Result<RecordedTime> recorded_time(const Profile& profile, StopToken stop) {
  // Differences of times, and twice these, can be counted.
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();
  const auto take = [&](const Column<std::int64_t>& times) -> Result<void> {
    for (const std::int64_t time : times) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (time == kNoTime) continue;
      first = std::min(first, time);
      last = std::max(last, time);
    }
    return {};
  };
  if (const SampleTable* const samples = profile.samples()) PROFD_CHECK(take(samples->time));
  if (const Timeline* const timeline = profile.timeline()) {
    PROFD_CHECK(take(timeline->spans.begin));
    PROFD_CHECK(take(timeline->spans.end));
    PROFD_CHECK(take(timeline->markers.begin));
    PROFD_CHECK(take(timeline->markers.end));
    PROFD_CHECK(take(timeline->counters.time));
  }
  if (first > last) return fail(ErrorCode::invalid, "the profile does not say when anything happened");
  if (first < -kFarthest || last > kFarthest)
    return fail(ErrorCode::invalid, "the times of the profile lie too far apart to be counted");
  return RecordedTime{first, last + 1};
}

}  // namespace profd
