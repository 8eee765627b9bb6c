#include "core/view/passing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/view/filters.h"
#include "core/view/marker_times.h"

namespace profd {
namespace {

constexpr std::int64_t kForGood = std::numeric_limits<std::int64_t>::max();

}  // namespace

Result<std::vector<std::uint8_t>> stacks_that_pass(const Selection& selection, StopToken& stop) {
  const Profile& profile = *selection.profile;
  std::vector<std::uint8_t> passes;
  for (const Filter& filter : selection.rows->filters) {
    if (filters_samples(filter)) continue;
    PROFD_CHECK(stop.status());
    PROFD_TRY(const MeantContexts meant, contexts_meant(profile, filter, stop));
    const ContextRanges& ranges = meant.ranges;
    passes.resize(profile.tree().size(), 1);
    std::vector<std::uint8_t> inside(passes.size(), 0);
    for (std::size_t r = 0; r < ranges.size(); ++r)
      std::fill(inside.begin() + ranges.begin[r], inside.begin() + ranges.end[r], 1);
    const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
    for (std::size_t c = 0; c < passes.size(); ++c) passes[c] &= inside[c] == wanted;
  }
  return passes;
}

Result<Moments> moments_that_pass(const Selection& selection, const StopToken& stop) {
  struct Choice {
    Filter filter;
    ThreadTimes times;                  // of a filter by time or marker: as of times_of
    std::vector<std::uint8_t> threads;  // of a filter by thread: 1 where it means the thread
  };
  std::vector<Choice> choices;
  for (const Filter& filter : selection.rows->filters) {
    if (!filters_samples(filter)) continue;
    Choice& choice = choices.emplace_back(Choice{filter, {}, {}});
    if (filter.by == FilterBy::thread) {
      PROFD_TRY(choice.threads, match_threads(*selection.profile, filter, stop));
    } else if (filter.by == FilterBy::time || filter.by == FilterBy::marker) {
      PROFD_TRY(choice.times, times_of(*selection.profile, {&filter, 1}, stop));
    }
  }
  if (choices.empty()) return Moments();
  return Moments([choices = std::move(choices)](std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    return std::all_of(choices.begin(), choices.end(), [&](const Choice& choice) {
      const Filter& filter = choice.filter;
      const bool keeps = filter.op == FilterOp::keep;
      if (filter.by == FilterBy::label || !filter.linked.empty()) return !keeps;
      if (filter.by == FilterBy::thread)
        return thread == kNone ? !keeps : (choice.threads[thread] != 0) == keeps;
      // What has no end reaches on, what takes no time is there all the same.
      const std::int64_t last = end == kNoTime || end == kForGood ? kForGood : end + 1;
      return choice.times.of(thread).measure(begin, last) > 0;
    });
  });
}

}  // namespace profd
