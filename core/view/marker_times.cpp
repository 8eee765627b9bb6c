#include "core/view/marker_times.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/view/markers.h"
#include "core/view/pattern.h"

namespace profd {
namespace {

// Ascending and apart, those that touch made one.
void append_union(std::vector<TimeInterval>& intervals, std::vector<TimeInterval>& out) {
  std::sort(intervals.begin(), intervals.end(),
            [](const TimeInterval& a, const TimeInterval& b) { return a.begin < b.begin; });
  const std::size_t first = out.size();
  for (const TimeInterval& interval : intervals) {
    if (out.size() > first && interval.begin <= out.back().end)
      out.back().end = std::max(out.back().end, interval.end);
    else
      out.push_back(interval);
  }
}

}  // namespace

Result<MarkerTimes> MarkerTimes::of(const Profile& profile, const Filter& filter, const StopToken& stop) {
  PROFD_TRY(const Pattern pattern, Pattern::compile(filter.pattern, filter.regex));
  const Markers markers = Markers::of(profile);
  const std::size_t n_threads = profile.threads().size();
  std::vector<std::vector<TimeInterval>> found(n_threads + 1);
  std::unordered_map<StringId, bool> known;
  for (std::uint32_t id = 0; id < markers.size(); ++id) {
    if ((id & 0xFFFF) == 0) PROFD_CHECK(stop.status());
    const std::int64_t begin = markers.begin(id);
    const std::int64_t end =
        markers.end(id) == kNoTime ? std::numeric_limits<std::int64_t>::max() : markers.end(id);
    if (begin >= end) continue;
    const auto [name, is_new] = known.try_emplace(markers.name(id), false);
    if (is_new) name->second = pattern.matches(profile.strings()[name->first], stop);
    if (name->second) found[std::min<std::size_t>(markers.thread(id), n_threads)].push_back({begin, end});
  }
  PROFD_CHECK(stop.status());
  MarkerTimes out;
  for (std::size_t thread = 0; thread <= n_threads; ++thread) {
    std::vector<TimeInterval>& own = found[thread];
    out.first_.push_back(static_cast<std::uint32_t>(out.intervals_.size()));
    if (thread < n_threads) {
      out.by_thread_ = out.by_thread_ || !own.empty();
      own.insert(own.end(), found[n_threads].begin(), found[n_threads].end());
    }
    append_union(own, out.intervals_);
  }
  out.first_.push_back(static_cast<std::uint32_t>(out.intervals_.size()));
  return out;
}

std::span<const TimeInterval> MarkerTimes::of_thread(std::uint32_t thread) const {
  const std::size_t row = std::min<std::size_t>(thread, first_.size() - 2);
  return std::span(intervals_).subspan(first_[row], first_[row + 1] - first_[row]);
}

Result<ThreadTimes> times_of(const Profile& profile, std::span<const Filter> filters, const StopToken& stop) {
  PROFD_TRY(const TimeSet window, TimeSet::of(filters));
  ThreadTimes out{{window}, false};
  for (const Filter& filter : filters) {
    if (filter.by != FilterBy::marker) continue;
    PROFD_TRY(const MarkerTimes markers, MarkerTimes::of(profile, filter, stop));
    const bool keep = filter.op == FilterOp::keep;
    out.by_thread = out.by_thread || (keep && markers.by_thread());
    out.sets.resize(profile.threads().size() + 1, window);
    for (std::uint32_t thread = 0; thread < out.sets.size(); ++thread)
      out.sets[thread].limit(markers.of_thread(thread), keep);
  }
  return out;
}

}  // namespace profd
