// Where the samples of a pprof file begin, in ascending order. Four bytes each, whatever the size of the
// file: a file has millions of samples and crosses a multiple of 4 GiB only a few times.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/support/big_vector.h"

namespace profd::pprof {

class SampleOffsets {
 public:
  std::size_t size() const { return low_.size(); }
  void reserve(std::size_t n) { low_.reserve(n); }
  // Not below the last one.
  void push_back(std::uint64_t offset) {
    assert(offset >> 32 >= crossings_.size());
    while (crossings_.size() < offset >> 32) crossings_.push_back(low_.size());
    low_.push_back(static_cast<std::uint32_t>(offset));
  }
  std::uint64_t operator[](std::size_t i) const { return crossings_.empty() ? low_[i] : beyond_four_gib(i); }
  // For __builtin_prefetch.
  const void* address(std::size_t i) const { return &low_[i]; }

 private:
  std::uint64_t beyond_four_gib(std::size_t i) const {
    std::uint64_t high = 0;
    while (high < crossings_.size() && crossings_[high] <= i) ++high;
    return (high << 32) | low_[i];
  }

  BigVector<std::uint32_t> low_;
  std::vector<std::size_t> crossings_;  // k: the first sample at or after (k + 1) * 4 GiB
};

}  // namespace profd::pprof
