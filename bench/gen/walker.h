#pragma once

#include <cstdint>
#include <vector>

#include "bench/gen/program.h"

namespace profd::bench {

struct Sample {
  std::vector<std::uint32_t> sites;  // root first; never empty
  std::uint64_t count;               // metric 0: samples
  std::uint64_t cpu_ns;              // metric 1: count times the period of 10 ms
  std::uint64_t allocs;              // metric 2: objects
  std::uint64_t alloc_bytes;         // metric 3
  std::uint32_t endpoint;            // into endpoint_names(), or kNone
  std::uint32_t thread;              // a thread id; always set, written as a label only when labelled
  bool thread_labelled;
  std::uint64_t time_ns;  // since the start; never decreases
};

inline constexpr std::uint64_t kPeriodNs = 10'000'000;

// Endless, deterministic stream of samples: weighted walks through the program from one of its roots.
class Walker {
 public:
  Walker(const Program& program, std::uint64_t seed) : program_(program), rng_(seed ^ 0x5eedULL) {}

  // The reference is valid until the next call.
  const Sample& next();

 private:
  void walk();
  std::uint32_t take_call(const Function& function);
  std::uint32_t recurse(std::uint32_t function, std::uint32_t n_frames);
  void leave_through_runtime(Language language);
  void stop_at(const Function& function);

  const Program& program_;
  Rng rng_;
  Sample sample_{};
};

}  // namespace profd::bench
