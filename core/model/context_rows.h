// ContextRows: finds a context by its parent and frame. With contexts in the millions every probe waits for
// memory, and so does every page that growing touches. Most contexts are the only child of their parent:
// first children stand in a column beside the contexts, only the others are hashed. What is compared stands
// in two columns of the caller's, and hashes are made again when the table grows.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "core/support/big_vector.h"
#include "core/support/growing_vector.h"
#include "core/support/hash.h"

namespace profd {

class ContextRows {
 public:
  // The row of (parent, frame); parents.size() when there is none: the caller then adds it to both columns.
  std::uint32_t find_or_add(std::uint32_t parent, std::uint32_t frame,
                            const GrowingVector<std::uint32_t>& parents,
                            const GrowingVector<std::uint32_t>& frames) {
    assert(parent < parents.size());
    const auto next = static_cast<std::uint32_t>(parents.size());
    if (first_child_.size() < next) first_child_.push_back(0);
    std::uint32_t& first = first_child_[parent];
    if (first == 0) {
      first = next;
      return next;
    }
    if (frames[first] == frame) return first;
    if ((n_hashed_ + 1) * 4 > slots_.size() * 3) grow(parents, frames);
    const std::uint64_t hash = hash_of(parent, frame);
    const std::uint64_t mask = slots_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.row == 0) {
        slot = {tag, next};
        ++n_hashed_;
        return next;
      }
      if (slot.tag == tag && parents[slot.row] == parent && frames[slot.row] == frame) return slot.row;
    }
  }

  std::size_t bytes() const {
    return first_child_.size() * sizeof(std::uint32_t) + slots_.size() * sizeof(Slot);
  }

 private:
  struct Slot {
    std::uint32_t tag, row;  // row 0, the root, is looked up by nobody: the slot is empty
  };
  static std::uint64_t hash_of(std::uint32_t parent, std::uint32_t frame) {
    return mix64((std::uint64_t{parent} << 32) | frame);
  }

  void grow(const GrowingVector<std::uint32_t>& parents, const GrowingVector<std::uint32_t>& frames) {
    const std::size_t n = slots_.empty() ? 64 : slots_.size() * 2;
    slots_ = {};
    slots_ = BigVector<Slot>(n, Slot{0, 0});
    const std::uint64_t mask = n - 1;
    for (std::uint32_t row = 1; row < parents.size(); ++row) {
      if (first_child_[parents[row]] == row) continue;
      const std::uint64_t hash = hash_of(parents[row], frames[row]);
      std::uint64_t i = hash & mask;
      while (slots_[i].row != 0) i = (i + 1) & mask;
      slots_[i] = {static_cast<std::uint32_t>(hash >> 32), row};
    }
  }

  GrowingVector<std::uint32_t> first_child_;  // by row; 0 none. Shorter than the contexts by one at most
  BigVector<Slot> slots_;
  std::size_t n_hashed_ = 0;
};

}  // namespace profd
