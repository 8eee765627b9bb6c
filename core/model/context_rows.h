// ContextRows: finds a context by its parent and frame. Half the size of a RowSet: what is compared stands in
// two columns side by side, and hashes are made again when the table grows. With contexts in the millions
// every probe waits for memory, and so does every page that growing touches.
#pragma once

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
    if (parents.size() * 4 > slots_.size() * 3) grow(parents, frames);
    const std::uint64_t hash = hash_of(parent, frame);
    const std::uint64_t mask = slots_.size() - 1;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.row == 0) {
        slot = {tag, static_cast<std::uint32_t>(parents.size())};
        return slot.row;
      }
      if (slot.tag == tag && parents[slot.row] == parent && frames[slot.row] == frame) return slot.row;
    }
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
      const std::uint64_t hash = hash_of(parents[row], frames[row]);
      std::uint64_t i = hash & mask;
      while (slots_[i].row != 0) i = (i + 1) & mask;
      slots_[i] = {static_cast<std::uint32_t>(hash >> 32), row};
    }
  }

  BigVector<Slot> slots_;
};

}  // namespace profd
