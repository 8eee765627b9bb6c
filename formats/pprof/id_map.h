// IdMap: from the ids of a file (unique, not always dense) to row numbers.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/support/id.h"

namespace profd::pprof {

class IdMap {
 public:
  // Builds from ids in row order; false when an id occurs twice (`bad_row` is then its row).
  bool build(const std::vector<std::uint64_t>& ids, std::size_t& bad_row) {
    std::uint64_t largest = 0;
    for (std::uint64_t id : ids) largest = id > largest ? id : largest;
    const bool dense = largest <= ids.size() * 4 + 1024;
    if (dense) dense_.assign(static_cast<std::size_t>(largest) + 1, kNone);
    for (std::size_t row = 0; row < ids.size(); ++row) {
      bad_row = row;
      if (dense) {
        std::uint32_t& slot = dense_[static_cast<std::size_t>(ids[row])];
        if (slot != kNone) return false;
        slot = static_cast<std::uint32_t>(row);
      } else if (!sparse_.emplace(ids[row], static_cast<std::uint32_t>(row)).second) {
        return false;
      }
    }
    return true;
  }

  // kNone when the id is unknown.
  std::uint32_t operator[](std::uint64_t id) const {
    if (id < dense_.size()) return dense_[static_cast<std::size_t>(id)];
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }

  // One more than the largest id when the table is dense, else 0.
  std::size_t dense_size() const { return dense_.size(); }

 private:
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

}  // namespace profd::pprof
