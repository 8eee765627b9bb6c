// What a live session measured in one stretch of time, sparse: what had nothing is not there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/live/contexts.h"

namespace profd::live {

// Nanoseconds since the session's begin.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kBucket = 100'000'000;

// Time of a context or a method itself, and calls that began; of a session that is measured by samples how
// many saw it run itself. A bucket is shorter than four seconds.
struct Part {
  std::uint32_t key = 0;  // ContextNumber or MethodId
  std::uint32_t ns = 0;
  std::uint32_t calls = 0;
};

struct ThreadPart {
  std::uint32_t instance = 0;  // a thread, from its begin to its end
  std::uint32_t lane = 0;
  std::uint32_t contexts_end = 0,
                methods_end = 0;  // in the bucket's columns; they begin where those before end
  std::uint32_t busy = 0, unknown = 0, waiting = 0;  // nanoseconds; waiting is beside the others
  std::uint32_t samples = 0;  // where it is measured by them; those of nothing open among them
};

struct Bucket {
  Nanoseconds begin = 0, end = 0;
  std::vector<ThreadPart> threads;
  std::vector<Part> contexts;  // of each thread; those for what is unknown and beyond limits among them
  std::vector<Part> methods;   // of each thread: all that were open, methods of the stream alone
  std::uint64_t events = 0, lost = 0;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Bucket) + threads.capacity() * sizeof(ThreadPart) +
           (contexts.capacity() + methods.capacity()) * sizeof(Part);
  }
  [[nodiscard]] std::span<const Part> contexts_of(std::size_t thread) const {
    const std::size_t from = thread == 0 ? 0 : threads[thread - 1].contexts_end;
    return std::span(contexts).subspan(from, threads[thread].contexts_end - from);
  }
  [[nodiscard]] std::span<const Part> methods_of(std::size_t thread) const {
    const std::size_t from = thread == 0 ? 0 : threads[thread - 1].methods_end;
    return std::span(methods).subspan(from, threads[thread].methods_end - from);
  }
};

using BucketPtr = std::shared_ptr<const Bucket>;

}  // namespace profd::live
