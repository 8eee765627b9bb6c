// Buckets of a live session that are closed: the last minute as they were measured, what is older a second
// each, ten minutes in all. Where memory is short less is kept, the oldest going first.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "core/live/bucket.h"
#include "core/live/part_sum.h"

namespace profd::live {

// One bucket of several that follow one another. Shorter than four seconds in all.
Bucket joined_buckets(std::span<const BucketPtr> buckets);

class History {
 public:
  static constexpr std::size_t kFine = 600;   // buckets as measured
  static constexpr std::size_t kJoined = 10;  // of them become one
  static constexpr Nanoseconds kKept = 600'000'000'000;

  // `most_bytes`: of all buckets; the newest ones of `always` buckets stay whatever they take.
  History(std::size_t most_bytes, std::size_t always) : most_bytes_(most_bytes), always_(always) {}

  // `bucket` begins where the one before ended.
  void add(BucketPtr bucket);
  void clear();

  // The newest `n` buckets as they were measured, oldest first; fewer where there are no more.
  [[nodiscard]] std::vector<BucketPtr> newest(std::size_t n) const;
  // Those that overlap with the time from `from` to `to`.
  [[nodiscard]] std::vector<BucketPtr> between(Nanoseconds from, Nanoseconds to) const;
  [[nodiscard]] bool empty() const { return fine_.empty(); }
  // Where what is kept begins; 0 without any.
  [[nodiscard]] Nanoseconds begin() const;
  // Whether something was dropped because memory was short.
  [[nodiscard]] bool thinned() const { return thinned_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void join_oldest();
  void drop_oldest();

  std::size_t most_bytes_, always_;
  std::deque<BucketPtr> coarse_, fine_;
  std::size_t bytes_ = 0;
  bool thinned_ = false;
};

}  // namespace profd::live
