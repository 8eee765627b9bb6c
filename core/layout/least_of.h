// LeastOf: least values of runs of a long column of numbers, by sixteens, sixteens of those, and so on: what
// asks for the least of a range or the nearest number below a bound looks at a few dozen of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/support/big_vector.h"

namespace profd {

// `Leaf` is called with a row and gives its number; the same column for every call.
class LeastOf {
 public:
  template <class Leaf>
  void make(std::size_t n, const Leaf& leaf) {
    n_ = n;
    levels_.clear();
    if (n == 0) return;
    levels_.emplace_back(runs(n));
    for (std::size_t i = 0; i < levels_[0].size(); ++i) {
      std::uint16_t least = kNothing;
      for (std::size_t row = i * kRun; row < std::min(n, (i + 1) * kRun); ++row)
        least = std::min<std::uint16_t>(least, leaf(row));
      levels_[0][i] = least;
    }
    while (levels_.back().size() > 1) {
      const BigVector<std::uint16_t>& below = levels_.back();
      BigVector<std::uint16_t> level(runs(below.size()));
      for (std::size_t i = 0; i < level.size(); ++i)
        level[i] = *std::min_element(
            below.begin() + static_cast<std::ptrdiff_t>(i * kRun),
            below.begin() + static_cast<std::ptrdiff_t>(std::min(below.size(), (i + 1) * kRun)));
      levels_.push_back(std::move(level));
    }
  }

  // Of [begin, end); kNothing where that is empty.
  template <class Leaf>
  [[nodiscard]] std::uint16_t of(std::size_t begin, std::size_t end, const Leaf& leaf) const {
    std::uint16_t least = kNothing;
    const auto take = [&](std::size_t level, std::size_t i) {
      least = std::min<std::uint16_t>(least, level == 0 ? leaf(i) : levels_[level - 1][i]);
    };
    for (std::size_t level = 0; begin < end; ++level) {
      while (begin < end && begin % kRun != 0) take(level, begin++);
      while (begin < end && end % kRun != 0) take(level, --end);
      begin /= kRun;
      end /= kRun;
      if (level == levels_.size()) break;
    }
    return least;
  }

  // The first row from `row` on with a number below `bound`; the number of rows when there is none.
  template <class Leaf>
  [[nodiscard]] std::size_t first_below(std::size_t row, std::uint32_t bound, const Leaf& leaf) const {
    std::size_t level = 0;
    while (row < size_of(level)) {
      if (at(level, row, leaf) < bound) {
        if (level == 0) return row;
        row *= kRun;
        --level;
      } else {
        ++row;
        while (level < levels_.size() && row % kRun == 0) {
          row /= kRun;
          ++level;
        }
      }
    }
    return n_;
  }
  // The last row up to and with `row` with a number below `bound`; the number of rows when there is none.
  template <class Leaf>
  [[nodiscard]] std::size_t last_below(std::size_t row, std::uint32_t bound, const Leaf& leaf) const {
    std::size_t level = 0, end = row + 1;  // of what is still to be looked at, on this level
    while (end > 0) {
      if (at(level, end - 1, leaf) < bound) {
        if (level == 0) return end - 1;
        end = std::min(end * kRun, size_of(level - 1));
        --level;
      } else {
        --end;
        while (level < levels_.size() && end > 0 && end % kRun == 0) {
          end /= kRun;
          ++level;
        }
      }
    }
    return n_;
  }

  [[nodiscard]] std::size_t memory() const {
    std::size_t bytes = 0;
    for (const auto& level : levels_) bytes += level.size() * sizeof(std::uint16_t);
    return bytes;
  }

  static constexpr std::uint16_t kNothing = std::numeric_limits<std::uint16_t>::max();

 private:
  static constexpr std::size_t kRun = 16;
  static std::size_t runs(std::size_t n) { return (n + kRun - 1) / kRun; }
  [[nodiscard]] std::size_t size_of(std::size_t level) const {
    return level == 0 ? n_ : levels_[level - 1].size();
  }
  template <class Leaf>
  [[nodiscard]] std::uint16_t at(std::size_t level, std::size_t i, const Leaf& leaf) const {
    return level == 0 ? leaf(i) : levels_[level - 1][i];
  }

  std::size_t n_ = 0;
  std::vector<BigVector<std::uint16_t>> levels_;
};

}  // namespace profd
