#include "core/view/time_set.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace profd {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// b - a where b >= a, for any two.
std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

std::int64_t bounded(std::uint64_t length) {
  return static_cast<std::int64_t>(std::min(length, static_cast<std::uint64_t>(kLast)));
}

}  // namespace

Result<void> check_window(const Filter& filter) {
  if (filter.from_ns && filter.to_ns && *filter.from_ns > *filter.to_ns)
    return fail(ErrorCode::invalid, "the time window ends before it begins");
  for (const std::optional<std::int64_t>& instant : {filter.from_ns, filter.to_ns, filter.every_ns})
    if (instant && (*instant < -kMaxInstant || *instant > kMaxInstant))
      return fail(ErrorCode::invalid, "the times of a window are within 2^53 ns, 104 days");
  if (!filter.every_ns) return {};
  if (!filter.from_ns || !filter.to_ns)
    return fail(ErrorCode::invalid,
                "a window that comes again has a begin and an end: time 0s..100ms every 1s");
  if (*filter.every_ns <= 0 || *filter.every_ns < *filter.to_ns - *filter.from_ns)
    return fail(ErrorCode::invalid, "a window comes again no sooner than it is long");
  return {};
}

std::uint64_t TimeSet::Again::before(std::int64_t time) const {
  if (time <= from) return 0;
  const std::uint64_t since = distance(from, time), step = static_cast<std::uint64_t>(every);
  return since / step * static_cast<std::uint64_t>(length) +
         std::min(since % step, static_cast<std::uint64_t>(length));
}

std::int64_t TimeSet::Again::measure(std::int64_t begin, std::int64_t end) const {
  const std::uint64_t in = before(end) - before(begin);
  return bounded(keep ? in : distance(begin, end) - in);
}

bool TimeSet::Again::contains(std::int64_t time) const {
  const bool in = time >= from && distance(from, time) % static_cast<std::uint64_t>(every) <
                                      static_cast<std::uint64_t>(length);
  return in == keep;
}

Result<TimeSet> TimeSet::of(std::span<const Filter> filters) {
  TimeSet out;
  out.intervals_ = {{kFirst, kLast}};
  for (const Filter& filter : filters) {
    if (filter.by != FilterBy::time) continue;
    PROFD_CHECK(check_window(filter));
    const bool keep = filter.op == FilterOp::keep;
    if (filter.every_ns) {
      if (out.again_)
        return fail(ErrorCode::invalid, "a view has at most one window of time that comes again (every)");
      out.again_ = Again{*filter.from_ns, *filter.to_ns - *filter.from_ns, *filter.every_ns, keep};
      continue;
    }
    const TimeInterval window{filter.from_ns.value_or(kFirst), filter.to_ns.value_or(kLast)};
    out.limit({&window, 1}, keep);
  }
  return out;
}

void TimeSet::limit(std::span<const TimeInterval> intervals, bool keep) {
  std::vector<TimeInterval> left;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) left.push_back({begin, end});
  };
  // Both ascend: what ends first is done with.
  std::size_t own = 0, other = 0;
  while (own < intervals_.size() && (keep || other <= intervals.size())) {
    const TimeInterval& mine = intervals_[own];
    TimeInterval theirs{kLast, kLast};
    if (keep) {
      if (other == intervals.size()) break;
      theirs = intervals[other];
    } else {  // the gap before it
      theirs.begin = other == 0 ? kFirst : intervals[other - 1].end;
      if (other < intervals.size()) theirs.end = intervals[other].begin;
    }
    add(std::max(mine.begin, theirs.begin), std::min(mine.end, theirs.end));
    if (mine.end < theirs.end)
      ++own;
    else
      ++other;
  }
  intervals_ = std::move(left);
}

std::vector<TimeInterval>::const_iterator TimeSet::after(std::int64_t time) const {
  return std::upper_bound(intervals_.begin(), intervals_.end(), time,
                          [](std::int64_t t, const TimeInterval& interval) { return t < interval.end; });
}

bool TimeSet::contains(std::int64_t time) const {
  const auto at = after(time);
  return at != intervals_.end() && time >= at->begin && (!again_ || again_->contains(time));
}

bool TimeSet::contains(std::int64_t time, std::size_t& near) const {
  constexpr std::size_t kSoon = 4;
  const std::size_t n = intervals_.size(), last = std::min(n, near + kSoon);
  while (near < last && intervals_[near].end <= time) ++near;
  const bool is_first = near <= n && (near == 0 || intervals_[near - 1].end <= time) &&
                        (near == n || intervals_[near].end > time);
  if (!is_first) near = static_cast<std::size_t>(after(time) - intervals_.begin());
  return near < n && time >= intervals_[near].begin && (!again_ || again_->contains(time));
}

std::int64_t TimeSet::measure(std::int64_t begin, std::int64_t end, std::int64_t grain) const {
  std::int64_t sum = 0;
  for (auto at = after(begin); at != intervals_.end() && at->begin < end; ++at) {
    const std::int64_t from = std::max(begin, at->begin), to = std::min(end, at->end);
    if (from >= to) continue;
    if (again_)
      sum += again_->measure(from, to);
    else
      sum += bounded(distance(begin, to)) / grain - bounded(distance(begin, from)) / grain;
  }
  return again_ ? sum / grain : sum;
}

std::optional<std::int64_t> TimeSet::first_in(std::int64_t begin, std::int64_t end) const {
  for (auto at = after(begin); at != intervals_.end() && at->begin < end; ++at) {
    const std::int64_t from = std::max(begin, at->begin), to = std::min(end, at->end);
    if (from >= to) continue;
    if (!again_ || again_->contains(from)) return from;
    // The next edge of the windows that come again.
    if (from < again_->from) {
      if (again_->keep && again_->length > 0 && again_->from < to) return again_->from;
      continue;
    }
    const std::uint64_t in = distance(again_->from, from) % static_cast<std::uint64_t>(again_->every);
    const std::uint64_t edge = static_cast<std::uint64_t>(again_->keep ? again_->every : again_->length);
    if (edge - in < distance(from, to) && again_->measure(from, to) > 0)
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + (edge - in));
  }
  return std::nullopt;
}

}  // namespace profd
