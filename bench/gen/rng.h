#pragma once

#include <cstdint>

namespace profd::bench {

// splitmix64. Integer arithmetic only, so that a seed gives the same bytes on every platform and library.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0 and below 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  // Uniform in [low, high].
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }

  bool chance(std::uint32_t percent) { return below(100) < percent; }

  // Number of successes before the first failure, each with the given chance; at most limit.
  std::uint32_t run_length(std::uint32_t percent, std::uint32_t limit) {
    std::uint32_t n = 0;
    while (n < limit && chance(percent)) ++n;
    return n;
  }

 private:
  std::uint64_t state_;
};

}  // namespace profd::bench
