// RecordQueue: puts records that were written by several processors side by side into the order of time.
//
// perf writes rounds: when one is finished, everything older than the newest record of the round before has
// been written. So what is held back is about two rounds, not the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/support/result.h"

namespace profd::perf_data {

struct QueuedRecord {
  std::uint64_t time = 0;
  const std::byte* data = nullptr;
  std::uint64_t offset = 0;  // in the file, of the record or of the block it was compressed in
};

class RecordQueue {
 public:
  void add(const QueuedRecord& record) {
    sorted_ &= waiting_.empty() || record.time >= waiting_.back().time;
    newest_ = std::max(newest_, record.time);
    waiting_.push_back(record);
  }
  // Delivers what no later record can come before.
  template <class Deliver>
  Result<void> finish_round(Deliver deliver) {
    const std::uint64_t limit = limit_;
    limit_ = newest_;
    return flush(limit, deliver);
  }
  template <class Deliver>
  Result<void> finish(Deliver deliver) {
    return flush(std::numeric_limits<std::uint64_t>::max(), deliver);
  }
  // Nothing before this place of the file is waiting.
  std::uint64_t first_offset() const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const QueuedRecord& record : waiting_) first = std::min(first, record.offset);
    return first;
  }

 private:
  template <class Deliver>
  Result<void> flush(std::uint64_t limit, Deliver deliver) {
    const auto by_time = [](const QueuedRecord& a, const QueuedRecord& b) { return a.time < b.time; };
    if (!sorted_) std::stable_sort(waiting_.begin(), waiting_.end(), by_time);
    sorted_ = true;
    const auto end =
        std::upper_bound(waiting_.begin(), waiting_.end(), QueuedRecord{limit, nullptr, 0}, by_time);
    for (auto at = waiting_.begin(); at != end; ++at) PROFD_CHECK(deliver(*at));
    waiting_.erase(waiting_.begin(), end);
    return {};
  }

  std::vector<QueuedRecord> waiting_;
  bool sorted_ = true;
  std::uint64_t newest_ = 0;
  std::uint64_t limit_ = 0;  // newest record when the last round was finished
};

}  // namespace profd::perf_data
