#include "core/live/meter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd::live {
namespace {

constexpr std::uint32_t kNoLane = 0xFFFFFFFFu;

Nanoseconds bucket_end(Nanoseconds at) {
  return (at / kBucket + 1) * kBucket;
}

void add_count(std::uint64_t& sum, std::uint64_t count) {
  if (__builtin_add_overflow(sum, count, &sum)) sum = ~std::uint64_t{0};
}

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xFFFFFFFFu));
}

}  // namespace

Meter::Meter(MeterLimits limits)
    : limits_(limits),
      contexts_(limits.contexts),
      lane_by_number_(limits.threads + 1, kNoLane),
      depth_(limits.depth),
      history_(limits.history_bytes, limits.window) {}

std::uint32_t Meter::find_lane(std::string_view name) {
  std::uint32_t any = kNoLane;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].alive) continue;
    if (lanes_[i].name == name && !lanes_[i].mixed) return i;
    if (any == kNoLane || lanes_[i].mixed) any = i;
  }
  if (lanes_.size() == limits_.threads) return any;
  Lane lane;
  lane.roots = contexts_.add_lane(static_cast<std::uint32_t>(lanes_.size()));
  lane.name = name;
  lanes_.push_back(std::move(lane));
  return static_cast<std::uint32_t>(lanes_.size() - 1);
}

Lane* Meter::begin_thread(std::uint64_t number, std::string_view name) {
  if (number == 0 || number >= lane_by_number_.size()) return nullptr;
  const std::uint32_t found = find_lane(name);
  if (found == kNoLane) return nullptr;
  lane_by_number_[number] = found;
  Lane& lane = lanes_[found];
  if (lane.name != name) {
    lane.mixed = true;
    lane.name = name;
  }
  running_.resize(contexts_.size());
  lane.alive = true;
  lane.instance = n_instances_++;
  lane.number = static_cast<std::uint32_t>(number);
  lane.os_id = lane.flags = lane.cpu_ns = lane.beyond = 0;
  lane.waits = false;
  lane.stack.clear();
  lane.base = lane.roots.nothing;
  lane.last = closed_;
  lane.edge = bucket_end(closed_);
  lane.waited = 0;
  lane.seen = 0;
  lane.n_samples = 0;
  ++n_alive_;
  return &lane;
}

Lane* Meter::lane_of(std::uint64_t number) {
  if (number < lane_by_number_.size() && lane_by_number_[number] != kNoLane)
    return &lanes_[lane_by_number_[number]];
  return begin_thread(number, {});
}

void Meter::name_thread(std::uint64_t number, std::uint64_t os_id, std::string_view name,
                        std::uint64_t flags) {
  const std::string text = repair_utf8(name);
  Lane* lane = nullptr;
  if (number < lane_by_number_.size() && lane_by_number_[number] != kNoLane) {
    lane = &lanes_[lane_by_number_[number]];
    // It had no name, or is called otherwise from now on.
    lane->name = text;
  } else {
    lane = begin_thread(number, text);
  }
  if (lane == nullptr) {
    ++counts_.capped;
    return;
  }
  lane->os_id = os_id;
  lane->flags = flags;
}

Result<void> Meter::check_ahead(Nanoseconds at) const {
  if (at - tick_ <= kAhead) return {};
  return fail(ErrorCode::malformed, fmt::format("an event of the live stream is {} s ahead of its last tick",
                                                (at - tick_) / 1'000'000'000));
}

Nanoseconds Meter::clipped(const Lane& lane, Nanoseconds at) {
  if (at < tick_) {
    ++counts_.late;
    at = tick_;
  }
  if (at < lane.last) {
    ++counts_.steps;
    at = lane.last;
  }
  return at;
}

MethodId Meter::method_of(std::uint64_t id) {
  if (id < kMaxMethods && id != 0) return static_cast<MethodId>(id);
  ++counts_.capped;
  return kMoreMethods;
}

void Meter::count_open(const Lane& lane, std::size_t before) {
  n_open_ += lane.stack.size() - before;
  depth_ = n_open_ < limits_.open ? limits_.depth : 0;
}

void Meter::enter(Lane& lane, std::uint64_t id) {
  if (lane.stack.size() >= depth_) {
    ++lane.beyond;
    ++counts_.capped;
    return;
  }
  const ContextNumber context = contexts_.child(lane.running(), method_of(id), lane.roots.more);
  if (context >= running_.size()) running_.resize(contexts_.size() + contexts_.size() / 2);
  lane.stack.push_back(context);
  touch(lane, context);
  ++running_[context].calls;
}

void Meter::leave(Lane& lane) {
  if (lane.beyond > 0)
    --lane.beyond;
  else if (!lane.stack.empty())
    lane.stack.pop_back();
  else if (lane.base == lane.roots.nothing)
    ++counts_.unmatched;
}

void Meter::leave_to(Lane& lane, std::uint64_t id) {
  lane.beyond = 0;
  if (id == 0) {
    lane.stack.clear();
    lane.base = lane.roots.nothing;
    return;
  }
  const MethodId method = method_of(id);
  while (!lane.stack.empty() && contexts_[lane.stack.back()].method != method) lane.stack.pop_back();
  if (!lane.stack.empty()) return;
  const ContextNumber context = contexts_.child(lane.base, method, lane.roots.more);
  if (context >= running_.size()) running_.resize(contexts_.size() + contexts_.size() / 2);
  lane.stack.push_back(context);
  touch(lane, context);
}

void Meter::advance(Lane& lane, Nanoseconds at) {
  while (at >= lane.edge) {
    touch(lane, lane.running());
    running_[lane.running()].ns += static_cast<std::uint64_t>(lane.edge - lane.last);
    lane.last = lane.edge;
    flush(lane);
    lane.edge += kBucket;
  }
  if (at == lane.last) return;
  touch(lane, lane.running());
  running_[lane.running()].ns += static_cast<std::uint64_t>(at - lane.last);
  lane.last = at;
}

Result<void> Meter::events(std::uint64_t number, const Records& records, const StreamClock& clock) {
  counts_.events += records.n;
  Lane* const found = lane_of(number);
  if (found == nullptr) {
    counts_.capped += records.n;
    return {};
  }
  Lane& lane = *found;
  const std::size_t n_before = lane.stack.size();
  std::uint32_t n_others = 0;
  for (std::uint32_t i = 0; i < records.n; ++i) {
    Nanoseconds at = clock.to_ns(records.ticks[i]);
    if (at < tick_ || at < lane.last) at = clipped(lane, at);
    if (at >= lane.edge) {
      if (auto fine = check_ahead(at); !fine) {
        count_open(lane, n_before);
        return fine;
      }
      advance(lane, at);
    } else if (at > lane.last) {
      const ContextNumber running = lane.running();
      touch(lane, running);
      running_[running].ns += static_cast<std::uint64_t>(at - lane.last);
      lane.last = at;
    }
    switch (records.kinds[i]) {
      case RecordKind::enter:
        enter(lane, records.ids[i]);
        break;
      case RecordKind::exit:
        leave(lane);
        break;
      case RecordKind::exit_to:
        leave_to(lane, records.ids[i]);
        break;
      case RecordKind::other: {
        const Records::Other& other = records.others[n_others++];
        if (other.operation != static_cast<std::uint64_t>(OtherOperation::mark))
          ++counts_.unknown_operations;
        else if (on_mark_)
          on_mark_(at, other.bytes);
        break;
      }
    }
  }
  count_open(lane, n_before);
  newest_ = std::max(newest_, lane.last);
  bucket_at(lane.last).events += records.n;
  return {};
}

Result<void> Meter::end_thread(std::uint64_t number, Nanoseconds at) {
  if (number >= lane_by_number_.size() || lane_by_number_[number] == kNoLane) return {};
  Lane& lane = lanes_[lane_by_number_[number]];
  PROFD_CHECK(check_ahead(at));
  advance(lane, clipped(lane, at));
  newest_ = std::max(newest_, lane.last);
  add_waiting(lane, lane.last);
  lane.waits = false;
  flush(lane);
  lane.alive = false;
  n_pending_ -= lane.pending.size();
  lane.pending.clear();
  n_open_ -= lane.stack.size();
  lane.stack.clear();
  lane.base = lane.roots.nothing;
  lane_by_number_[number] = kNoLane;
  --n_alive_;
  return {};
}

Result<void> Meter::gap(std::uint64_t number, Nanoseconds from, Nanoseconds to, std::uint64_t count) {
  add_count(counts_.lost, count);
  Lane* const found = lane_of(number);
  if (found == nullptr) {
    ++counts_.capped;
    return {};
  }
  Lane& lane = *found;
  PROFD_CHECK(check_ahead(std::max(from, to)));
  const Nanoseconds begin = clipped(lane, from);
  advance(lane, begin);
  n_open_ -= lane.stack.size();
  lane.stack.clear();
  lane.beyond = 0;
  lane.base = lane.roots.unknown;
  touch(lane, lane.base);
  advance(lane, std::max(begin, to));
  newest_ = std::max(newest_, lane.last);
  // Where it ends: not in the bucket that begins there.
  add_count(bucket_at(lane.last > begin ? lane.last - 1 : begin).lost, count);
  return {};
}

Result<Lane*> Meter::lane_at(std::uint64_t number, Nanoseconds at) {
  Lane* const lane = lane_of(number);
  if (lane == nullptr) {
    ++counts_.capped;
    return lane;
  }
  PROFD_CHECK(check_ahead(at));
  advance(*lane, clipped(*lane, at));
  newest_ = std::max(newest_, lane->last);
  return lane;
}

Result<void> Meter::stack(std::uint64_t number, Nanoseconds at, std::span<const std::uint64_t> ids) {
  PROFD_TRY(Lane* const found, lane_at(number, at));
  if (found == nullptr) return {};
  Lane& lane = *found;
  n_open_ -= lane.stack.size();
  lane.stack.clear();
  lane.beyond = 0;
  lane.base = lane.roots.nothing;
  for (const std::uint64_t id : ids) {
    if (lane.stack.size() >= depth_) {
      ++lane.beyond;
      ++counts_.capped;
      continue;
    }
    const ContextNumber context = contexts_.child(lane.running(), method_of(id), lane.roots.more);
    lane.stack.push_back(context);
  }
  count_open(lane, 0);
  running_.resize(std::max(running_.size(), contexts_.size()));
  touch(lane, lane.running());
  return {};
}

Result<void> Meter::state(std::uint64_t number, Nanoseconds at, bool waits, std::uint64_t cpu_ns) {
  PROFD_TRY(Lane* const found, lane_at(number, at));
  if (found == nullptr) return {};
  Lane& lane = *found;
  add_waiting(lane, lane.last);
  lane.waits = waits;
  lane.waits_since = lane.last;
  lane.cpu_ns = std::max(lane.cpu_ns, cpu_ns);
  return {};
}

Result<void> Meter::forget_stacks(Nanoseconds at) {
  PROFD_CHECK(check_ahead(at));
  for (Lane& lane : lanes_) {
    if (!lane.alive) continue;
    advance(lane, clipped(lane, at));
    newest_ = std::max(newest_, lane.last);
    n_open_ -= lane.stack.size();
    lane.stack.clear();
    lane.beyond = 0;
    lane.base = lane.roots.unknown;
    touch(lane, lane.base);
  }
  return {};
}

void Meter::add_waiting(Lane& lane, Nanoseconds at) {
  if (!lane.waits) return;
  lane.waited += std::max<Nanoseconds>(0, at - std::max(lane.waits_since, lane.edge - kBucket));
  lane.waits_since = at;
}

Bucket& Meter::bucket_at(Nanoseconds at) {
  const auto index = static_cast<std::size_t>((at - closed_) / kBucket);
  while (open_.size() <= index) {
    Bucket bucket;
    bucket.begin = closed_ + static_cast<Nanoseconds>(open_.size()) * kBucket;
    bucket.end = bucket.begin + kBucket;
    open_.push_back(std::move(bucket));
  }
  return open_[index];
}

void Meter::flush(Lane& lane) {
  add_waiting(lane, lane.last);
  add_sampled(lane);
  Bucket& bucket = bucket_at(lane.edge - kBucket);
  ThreadPart part;
  part.instance = lane.instance;
  part.lane = static_cast<std::uint32_t>(&lane - lanes_.data());
  part.waiting = narrow(static_cast<std::uint64_t>(lane.waited));
  lane.waited = 0;
  part.samples = narrow(lane.n_samples);
  bucket.events += lane.n_samples;
  lane.n_samples = 0;
  if (seen_.size() < contexts_.size()) seen_.resize(contexts_.size() + contexts_.size() / 2);
  if (++n_flushes_ == 0) {
    seen_.assign(seen_.size(), 0);
    n_flushes_ = 1;
  }
  methods_.clear();
  std::uint64_t busy = 0;
  bool any = false;
  for (const ContextNumber context : lane.touched) {
    const Running& running = running_[context];
    const MethodId method = contexts_[context].method;
    if (method == kNothingOpen) continue;
    any = true;
    if (method == kNotKnown)
      part.unknown = narrow(running.ns);
    else
      busy += running.ns;
    bucket.contexts.push_back({context, narrow(running.ns), running.calls});
    methods_.add(method, running.ns, running.calls);
    // Its callers were open while it was.
    for (ContextNumber up = context; up != 0 && seen_[up] != n_flushes_; up = contexts_[up].parent) {
      seen_[up] = n_flushes_;
      methods_.add(contexts_[up].method, 0, 0);
    }
  }
  lane.touched.clear();
  if (++lane.round == 0) lane.round = 1;
  if (!any && part.waiting == 0 && part.samples == 0) return;
  part.busy = narrow(busy);
  for (const PartSum::Row& row : methods_.rows())
    if (row.key < kMaxMethods || row.key == kMoreMethods)
      bucket.methods.push_back({row.key, narrow(row.ns), narrow(row.calls)});
  part.contexts_end = static_cast<std::uint32_t>(bucket.contexts.size());
  part.methods_end = static_cast<std::uint32_t>(bucket.methods.size());
  bucket.threads.push_back(part);
}

void Meter::close(Nanoseconds end) {
  bucket_at(closed_);
  Bucket bucket = std::move(open_.front());
  open_.pop_front();
  bucket.end = end;
  if (totals_.size() < contexts_.size()) totals_.resize(contexts_.size());
  for (const Part& part : bucket.contexts) {
    totals_[part.key].ns += part.ns;
    totals_[part.key].calls += part.calls;
  }
  bucket.contexts.shrink_to_fit();
  bucket.methods.shrink_to_fit();
  closed_ = end;
  history_.add(std::make_shared<const Bucket>(std::move(bucket)));
}

void Meter::tick(Nanoseconds at) {
  if (at <= tick_) return;
  if (at - closed_ > kAhead + kAhead / 10) skip_to(at / kBucket * kBucket);
  tick_ = at;
  newest_ = std::max(newest_, at);
  while (closed_ + kBucket <= at) {
    const Nanoseconds end = closed_ + kBucket;
    for (Lane& lane : lanes_)
      if (lane.alive && lane.edge == end) advance(lane, end);
    close(end);
  }
}

// The program, or the machine, stood still: the time counts, and is one stretch.
void Meter::skip_to(Nanoseconds at) {
  while (closed_ < newest_ || !open_.empty()) {
    const Nanoseconds end = closed_ + kBucket;
    for (Lane& lane : lanes_)
      if (lane.alive && lane.edge == end) advance(lane, end);
    close(end);
  }
  history_.clear();
  for (Lane& lane : lanes_) {
    if (!lane.alive) continue;
    advance(lane, closed_);
    totals_.resize(std::max(totals_.size(), contexts_.size()));
    if (lane.running() != lane.roots.nothing)
      totals_[lane.running()].ns += static_cast<std::uint64_t>(at - lane.last);
    lane.last = lane.waits_since = at;
    lane.edge = at + kBucket;
  }
  open_.clear();
  closed_ = at;
}

void Meter::finish(std::optional<Nanoseconds> at) {
  tick(std::max(newest_, at.value_or(newest_)));
  const Nanoseconds end = tick_;
  for (Lane& lane : lanes_) {
    if (!lane.alive) continue;
    advance(lane, end);
    flush(lane);
  }
  // Calls at the very end have no time, and are calls all the same.
  if (end > closed_ || !open_.empty()) close(end);
}

std::size_t Meter::bytes() const {
  std::size_t bytes = contexts_.bytes() + running_.capacity() * sizeof(Running) +
                      totals_.capacity() * sizeof(Total) + history_.bytes() + methods_.bytes() +
                      seen_.capacity() * sizeof(std::uint32_t);
  for (const Lane& lane : lanes_)
    bytes += sizeof(Lane) + lane.pending.capacity() * sizeof(Lane::Pending) +
             (lane.stack.capacity() + lane.touched.capacity()) * sizeof(ContextNumber);
  for (const Bucket& bucket : open_) bytes += bucket.bytes();
  return bytes;
}

}  // namespace profd::live
