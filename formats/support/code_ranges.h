// CodeRanges: which of several things lies at an address, when later ones replace what they overlap: the
// memory map of a process, the code that a JIT compiler has emitted.
#pragma once

#include <cstdint>
#include <map>

#include "core/support/id.h"

namespace profd {

class CodeRanges {
 public:
  // [start, end) is `row` from now on. Returns whether it replaced any part of an older range.
  bool insert(std::uint64_t start, std::uint64_t end, std::uint32_t row) {
    if (start >= end) return false;
    const bool replaced = erase(start, end);
    ranges_[start] = {end, row};
    return replaced;
  }
  // Returns whether there was anything.
  bool erase(std::uint64_t start, std::uint64_t end) {
    if (start >= end) return false;
    bool any = false;
    auto at = ranges_.upper_bound(start);
    if (at != ranges_.begin()) --at;
    while (at != ranges_.end() && at->first < end) {
      const auto [from, range] = *at;
      if (range.end <= start) {
        ++at;
        continue;
      }
      any = true;
      at = ranges_.erase(at);
      if (from < start) ranges_[from] = {start, range.row};
      if (range.end > end) ranges_[end] = range;
    }
    return any;
  }
  // kNone when nothing lies there.
  std::uint32_t find(std::uint64_t address) const {
    auto at = ranges_.upper_bound(address);
    if (at == ranges_.begin()) return kNone;
    --at;
    return address < at->second.end ? at->second.row : kNone;
  }
  // Calls visit(start, end, row) for all of them, by start.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [start, range] : ranges_) visit(start, range.end, range.row);
  }
  std::size_t size() const { return ranges_.size(); }
  void clear() { ranges_.clear(); }

 private:
  struct Range {
    std::uint64_t end = 0;
    std::uint32_t row = 0;
  };
  std::map<std::uint64_t, Range> ranges_;  // by start; no two overlap
};

}  // namespace profd
