// Where the samples of a pprof file begin, in ascending order. Four bytes each, whatever the size of the
// file: a file has millions of samples and crosses a multiple of 4 GiB only a few times. A number that the
// reader keeps of each sample stands beside: samples are read in no order, and every place is a wait for
// memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/support/big_vector.h"

namespace profd::pprof {

class SampleOffsets {
 public:
  std::size_t size() const { return entries_.size(); }
  void reserve(std::size_t n) { entries_.reserve(n); }
  // Not below the last one.
  void push_back(std::uint64_t offset) {
    assert(offset >> 32 >= crossings_.size());
    while (crossings_.size() < offset >> 32) crossings_.push_back(entries_.size());
    entries_.push_back({static_cast<std::uint32_t>(offset), 0});
  }
  std::uint64_t operator[](std::size_t i) const {
    return crossings_.empty() ? entries_[i].low : beyond_four_gib(i);
  }
  // 0 unless set.
  std::uint32_t note(std::size_t i) const { return entries_[i].note; }
  void set_note(std::size_t i, std::uint32_t note) { entries_[i].note = note; }
  // For __builtin_prefetch.
  const void* address(std::size_t i) const { return &entries_[i]; }

 private:
  struct Entry {
    std::uint32_t low, note;
  };
  std::uint64_t beyond_four_gib(std::size_t i) const {
    std::uint64_t high = 0;
    while (high < crossings_.size() && crossings_[high] <= i) ++high;
    return (high << 32) | entries_[i].low;
  }

  BigVector<Entry> entries_;
  std::vector<std::size_t> crossings_;  // k: the first sample at or after (k + 1) * 4 GiB
};

}  // namespace profd::pprof
