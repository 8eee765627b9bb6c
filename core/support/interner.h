// RowSet: a dedup set whose storage is the caller's columns. It holds row numbers only; rows are
// hashed and compared in place, so interning n rows costs n probes and no allocation per row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/support/id.h"

namespace profd {

class RowSet {
 public:
  // Returns the row equal to the candidate, or adds `next_row` and returns it.
  // `equal(row)` compares a stored row with the candidate; `hash` is the candidate's.
  template <class Equal>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next_row, Equal equal) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    const std::uint64_t mask = slots_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash ^ (hash >> 32));
    for (std::uint64_t i = tag & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.row == kNone) {
        slot = {tag, next_row};
        ++used_;
        return next_row;
      }
      if (slot.tag == tag && equal(slot.row)) return slot.row;
    }
  }

  // Makes room for `n` rows, so that adding them moves nothing.
  void reserve(std::size_t n) {
    while (n * 4 > slots_.size() * 3) grow(std::bit_ceil(n * 4 / 3 + 1));
  }

  std::size_t size() const { return used_; }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  // Half of the hash is all that is kept: more would make the table twice as large, and slower.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t row = kNone;
  };

  void grow(std::size_t at_least = 64) {
    std::vector<Slot> old(std::max(at_least, slots_.size() * 2));
    old.swap(slots_);
    const std::uint64_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.row == kNone) continue;
      std::uint64_t i = slot.tag & mask;
      while (slots_[i].row != kNone) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace profd
