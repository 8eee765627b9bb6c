#include "core/live/window.h"

#include <algorithm>

namespace profd::live {
namespace {

struct Place {
  std::uint32_t instance, bucket, thread;
};

}  // namespace

std::uint64_t waited_at_least(const ThreadPart& part, Nanoseconds length) {
  const std::uint64_t both = std::uint64_t{part.busy} + part.waiting;
  const auto whole = static_cast<std::uint64_t>(std::max<Nanoseconds>(length, 0));
  return both > whole ? std::min<std::uint64_t>({both - whole, part.busy, part.waiting}) : 0;
}

WindowSum WindowSums::sum(std::span<const BucketPtr> buckets) {
  WindowSum window;
  if (buckets.empty()) return window;
  window.begin = buckets.front()->begin;
  window.end = buckets.back()->end;
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < buckets.size(); ++i) {
    window.events += buckets[i]->events;
    window.lost += buckets[i]->lost;
    for (std::uint32_t j = 0; j < buckets[i]->threads.size(); ++j)
      places.push_back({buckets[i]->threads[j].instance, i, j});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.instance < b.instance; });
  for (std::size_t i = 0; i < places.size();) {
    ThreadSum thread;
    thread.instance = places[i].instance;
    one_thread_.clear();
    for (; i < places.size() && places[i].instance == thread.instance; ++i) {
      const Bucket& bucket = *buckets[places[i].bucket];
      const ThreadPart& part = bucket.threads[places[i].thread];
      thread.lane = part.lane;
      thread.busy += part.busy;
      thread.unknown += part.unknown;
      thread.waiting += part.waiting;
      thread.waited += waited_at_least(part, bucket.end - bucket.begin);
      thread.samples += part.samples;
      one_thread_.add(bucket.methods_of(places[i].thread));
    }
    std::uint64_t longest_ns = 0;
    // At most: agents say at their ticks whether a thread waits, so what runs for less than that is not seen.
    const std::uint64_t ran = thread.busy - thread.waited + kBucket;
    for (const PartSum::Row& row : one_thread_.rows()) {
      if (row.ns > longest_ns || (row.ns == longest_ns && row.ns > 0 && row.key < thread.longest)) {
        thread.longest = row.key;
        longest_ns = row.ns;
      }
      if (row.key >= rows_.size()) rows_.resize(row.key + row.key / 2 + 64);
      if (rows_[row.key] == 0) {
        window.methods.push_back({});
        window.methods.back().method = row.key;
        rows_[row.key] = static_cast<std::uint32_t>(window.methods.size());
      }
      MethodSum& sum = window.methods[rows_[row.key] - 1];
      if (row.ns > sum.most_ns) {
        sum.most_ns = row.ns;
        sum.waited = row.ns > ran ? row.ns - ran : 0;
        if (thread.samples > 0) {
          sum.most_samples = row.calls;
          sum.thread_samples = thread.samples;
        }
      }
      sum.ns += row.ns;
      sum.calls += row.calls;
      ++sum.threads;
    }
    window.threads.push_back(thread);
  }
  for (const MethodSum& sum : window.methods) rows_[sum.method] = 0;
  return window;
}

std::uint16_t height_of(std::uint64_t ns, Nanoseconds length) {
  if (ns == 0 || length <= 0) return 0;
  const double share = static_cast<double>(ns) / static_cast<double>(length);
  return static_cast<std::uint16_t>(std::clamp(share * 65535.0 + 0.5, 1.0, 65535.0));
}

}  // namespace profd::live
