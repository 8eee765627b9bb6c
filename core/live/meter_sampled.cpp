// Time that is told by samples: of a stretch how much a thread was in each stack. It is spread evenly over
// the stretch, so that buckets hold their part of it; what nobody tells of stays unknown.
#include <algorithm>

#include "core/live/meter.h"
#include "core/support/hash.h"

namespace profd::live {
namespace {

// Of one stack in one stretch: the sums of a bucket have 32 bits.
constexpr std::uint64_t kMostCount = 1'000'000'000;

// Of `whole` over the stretch, what lies before `at`: parts that follow one another add up to all of it.
std::uint64_t part_before(const SampledTime& time, std::uint64_t whole, Nanoseconds at) {
  if (at >= time.to) return whole;
  if (at <= time.from) return 0;
  return static_cast<std::uint64_t>(static_cast<Wide>(whole) * static_cast<Wide>(at - time.from) /
                                    static_cast<Wide>(time.to - time.from));
}

}  // namespace

Result<void> Meter::sampled(std::uint64_t number, SampledTime time, std::span<const std::uint64_t> ids) {
  PROFD_CHECK(check_ahead(std::max(time.from, time.to)));
  Lane* const found = lane_of(number);
  if (found == nullptr || n_pending_ >= limits_.pending) {
    ++counts_.capped;
    return {};
  }
  Lane& lane = *found;
  if (lane.stack.empty() && lane.base == lane.roots.nothing) lane.base = lane.roots.unknown;
  // What is before the last tick is closed: its part of time and samples is gone.
  if (time.from < tick_) {
    ++counts_.late;
    time.ns -= part_before(time, time.ns, tick_);
    time.count -= part_before(time, time.count, tick_);
    time.from = tick_;
  }
  if (time.to <= time.from) return {};
  time.ns = std::min(time.ns, static_cast<std::uint64_t>(time.to - time.from));
  time.count = std::min(time.count, kMostCount);
  ContextNumber context = lane.roots.nothing;
  std::size_t depth = 0;
  for (const std::uint64_t id : ids) {
    if (++depth > limits_.depth) {
      ++counts_.capped;
      break;
    }
    context = contexts_.child(context, method_of(id), lane.roots.more);
  }
  running_.resize(std::max(running_.size(), contexts_.size()));
  if (lane.seen_time.from != time.from || lane.seen_time.to != time.to) {
    lane.seen = 0;
    lane.seen_time = {time.from, time.to, 0, 0};
  }
  if (context != lane.roots.nothing && time.ns > lane.seen_time.ns) {
    lane.seen = context;
    lane.seen_time.ns = time.ns;
  }
  counts_.samples += time.count;
  newest_ = std::max(newest_, time.to);
  lane.pending.push_back({context, time});
  ++n_pending_;
  return {};
}

void Meter::add_sampled(Lane& lane) {
  if (lane.pending.empty()) return;
  const Nanoseconds begin = lane.edge - kBucket, end = lane.edge;
  const std::uint64_t most = static_cast<std::uint64_t>(kBucket) + lane.pending.size();
  std::uint64_t told = 0;
  for (const Lane::Pending& pending : lane.pending) {
    const SampledTime& time = pending.time;
    // No more than the bucket has, whatever is said, but for what rounding moves from one bucket to the next.
    const std::uint64_t ns =
        std::min(part_before(time, time.ns, end) - part_before(time, time.ns, begin), most - told);
    const std::uint64_t count = part_before(time, time.count, end) - part_before(time, time.count, begin);
    if (ns == 0 && count == 0) continue;
    told += ns;
    lane.n_samples += count;
    touch(lane, pending.context);
    Running& running = running_[pending.context];
    running.ns += ns;
    running.calls = static_cast<std::uint32_t>(std::min<std::uint64_t>(running.calls + count, 0xFFFFFFFFu));
  }
  // It ran as unknown so far.
  Running& unknown = running_[lane.roots.unknown];
  if (unknown.round == lane.round) unknown.ns -= std::min(unknown.ns, told);
  const auto over = std::remove_if(lane.pending.begin(), lane.pending.end(),
                                   [end](const Lane::Pending& pending) { return pending.time.to <= end; });
  n_pending_ -= static_cast<std::size_t>(lane.pending.end() - over);
  lane.pending.erase(over, lane.pending.end());
}

}  // namespace profd::live
