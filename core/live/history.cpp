#include "core/live/history.h"

#include <algorithm>

namespace profd::live {
namespace {

// Parts of one thread in several buckets.
struct HistoryPlace {
  std::uint32_t instance, bucket, thread;
};

void append(std::vector<Part>& parts, const PartSum& sum) {
  constexpr std::uint64_t kMost = 0xFFFFFFFFu;
  for (const PartSum::Row& row : sum.rows())
    parts.push_back({row.key, static_cast<std::uint32_t>(std::min(row.ns, kMost)),
                     static_cast<std::uint32_t>(std::min(row.calls, kMost))});
}

}  // namespace

Bucket joined_buckets(std::span<const BucketPtr> buckets) {
  Bucket joined;
  joined.begin = buckets.front()->begin;
  joined.end = buckets.back()->end;
  std::vector<HistoryPlace> places;
  for (std::uint32_t i = 0; i < buckets.size(); ++i) {
    joined.events += buckets[i]->events;
    joined.lost += buckets[i]->lost;
    for (std::uint32_t j = 0; j < buckets[i]->threads.size(); ++j)
      places.push_back({buckets[i]->threads[j].instance, i, j});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const HistoryPlace& a, const HistoryPlace& b) { return a.instance < b.instance; });
  PartSum contexts, methods;
  for (std::size_t i = 0; i < places.size();) {
    ThreadPart whole;
    whole.instance = places[i].instance;
    contexts.clear();
    methods.clear();
    for (; i < places.size() && places[i].instance == whole.instance; ++i) {
      const Bucket& bucket = *buckets[places[i].bucket];
      const ThreadPart& part = bucket.threads[places[i].thread];
      whole.lane = part.lane;
      whole.busy += part.busy;
      whole.unknown += part.unknown;
      whole.waiting += part.waiting;
      whole.samples += part.samples;
      contexts.add(bucket.contexts_of(places[i].thread));
      methods.add(bucket.methods_of(places[i].thread));
    }
    append(joined.contexts, contexts);
    append(joined.methods, methods);
    whole.contexts_end = static_cast<std::uint32_t>(joined.contexts.size());
    whole.methods_end = static_cast<std::uint32_t>(joined.methods.size());
    joined.threads.push_back(whole);
  }
  joined.contexts.shrink_to_fit();
  joined.methods.shrink_to_fit();
  joined.threads.shrink_to_fit();
  return joined;
}

void History::add(BucketPtr bucket) {
  bytes_ += bucket->bytes();
  fine_.push_back(std::move(bucket));
  if (fine_.size() >= kFine + kJoined) join_oldest();
  while (!coarse_.empty() && fine_.back()->end - coarse_.front()->end > kKept) drop_oldest();
  while (bytes_ > most_bytes_ && (!coarse_.empty() || fine_.size() > always_)) {
    thinned_ = true;
    // Joining gives back what the same contexts have in ten buckets; where there is nothing to join, or it
    // did not help before, the oldest goes.
    if (fine_.size() > always_ + kJoined)
      join_oldest();
    else
      drop_oldest();
  }
}

void History::clear() {
  coarse_.clear();
  fine_.clear();
  bytes_ = 0;
}

void History::join_oldest() {
  const std::vector<BucketPtr> oldest(fine_.begin(), fine_.begin() + kJoined);
  auto joined = std::make_shared<const Bucket>(joined_buckets(oldest));
  for (const BucketPtr& bucket : oldest) bytes_ -= bucket->bytes();
  bytes_ += joined->bytes();
  coarse_.push_back(std::move(joined));
  fine_.erase(fine_.begin(), fine_.begin() + kJoined);
}

void History::drop_oldest() {
  std::deque<BucketPtr>& from = coarse_.empty() ? fine_ : coarse_;
  bytes_ -= from.front()->bytes();
  from.pop_front();
}

std::vector<BucketPtr> History::newest(std::size_t n) const {
  return {fine_.end() - static_cast<std::ptrdiff_t>(std::min(n, fine_.size())), fine_.end()};
}

std::vector<BucketPtr> History::between(Nanoseconds from, Nanoseconds to) const {
  std::vector<BucketPtr> found;
  for (const auto* tier : {&coarse_, &fine_})
    for (const BucketPtr& bucket : *tier)
      if (bucket->end > from && bucket->begin < to) found.push_back(bucket);
  return found;
}

Nanoseconds History::begin() const {
  if (!coarse_.empty()) return coarse_.front()->begin;
  return fine_.empty() ? 0 : fine_.front()->begin;
}

}  // namespace profd::live
