// IdIndex: the row of a 64-bit id that a file chose. Built once from all ids, then asked; sparse and dense
// ids alike, no allocation per id.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/support/id.h"

namespace profd {

class IdIndex {
 public:
  IdIndex() = default;
  // ids[row]; of equal ids the first row is found, and the later ones are counted.
  explicit IdIndex(std::span<const std::uint64_t> ids) {
    rows_.reserve(ids.size());
    dense_ = true;
    for (std::size_t row = 0; row < ids.size(); ++row) {
      dense_ = dense_ && ids[row] == ids[0] + row;
      rows_.emplace_back(ids[row], static_cast<std::uint32_t>(row));
    }
    if (!dense_) std::sort(rows_.begin(), rows_.end());
    for (std::size_t i = 1; i < rows_.size(); ++i) n_repeated_ += rows_[i].first == rows_[i - 1].first;
  }

  // kNone when no row has this id.
  std::uint32_t find(std::uint64_t id) const {
    if (rows_.empty()) return kNone;
    if (dense_) {
      const std::uint64_t row = id - rows_.front().first;
      return row < rows_.size() ? static_cast<std::uint32_t>(row) : kNone;
    }
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair{id, std::uint32_t{0}});
    return at != rows_.end() && at->first == id ? at->second : kNone;
  }
  std::size_t n_repeated() const { return n_repeated_; }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> rows_;  // sorted
  bool dense_ = false;                                         // ids ascend by one
  std::size_t n_repeated_ = 0;
};

}  // namespace profd
