// How high methods stand in a window of time: of each the share of the window in which it ran itself, on the
// thread where that is most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/live/bucket.h"
#include "core/live/part_sum.h"

namespace profd::live {

struct MethodSum {
  MethodId method = 0;
  std::uint64_t most_ns = 0;  // on the thread where it ran longest
  std::uint64_t ns = 0;       // on all threads
  std::uint64_t calls = 0;    // that began
  std::uint32_t threads = 0;  // on which it was open
  // Where it is measured by samples: those on the thread of most_ns that saw it, and all of that thread.
  std::uint64_t most_samples = 0, thread_samples = 0;
  std::uint64_t waited = 0;  // of `most_ns` that thread waited at least so long, to within a bucket
};
struct ThreadSum {
  std::uint32_t instance = 0, lane = 0;
  std::uint64_t busy = 0, unknown = 0, waiting = 0;
  // With a method open, at least: how long it waited and was busy is known, not how long at once.
  std::uint64_t waited = 0;
  MethodId longest = 0;  // that had most of it to itself, of the lowest of equal ones; 0: none had any
  std::uint64_t samples = 0;
};

struct WindowSum {
  Nanoseconds begin = 0, end = 0;
  std::vector<MethodSum> methods;  // all that were open, in no order
  std::vector<ThreadSum> threads;  // all that had anything, in order of their begin
  std::uint64_t events = 0, lost = 0;
};

// Keeps its memory from one window to the next.
class WindowSums {
 public:
  // `buckets` follow one another.
  WindowSum sum(std::span<const BucketPtr> buckets);

 private:
  PartSum one_thread_;
  std::vector<std::uint32_t> rows_;  // by method: one more than its row; else 0
};

// How long the thread waited with a method open, at least, in a bucket of that length: how long it did both
// is known, when is not.
std::uint64_t waited_at_least(const ThreadPart& part, Nanoseconds length);

// Share of `length` as live/frame tells it: 0 to 65535, and 0 only for none.
std::uint16_t height_of(std::uint64_t ns, Nanoseconds length);

}  // namespace profd::live
