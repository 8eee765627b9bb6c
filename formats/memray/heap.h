// What is allocated at a moment, and whose it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace profd::memray {

class Heap {
 public:
  // `owner` is the caller's: a row of what is counted.
  void allocate(std::uint64_t address, std::uint64_t size, std::uint32_t owner) {
    const auto [block, is_new] = blocks_.try_emplace(address);
    if (!is_new) bytes_ -= block->second.size;
    block->second = {size, owner};
    bytes_ += size;
  }
  void free(std::uint64_t address) {
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) return;  // allocated before the recording began
    bytes_ -= block->second.size;
    blocks_.erase(block);
  }
  void map(std::uint64_t address, std::uint64_t size, std::uint32_t owner) {
    unmap(address, size);
    if (size == 0) return;
    ranges_[address] = {size, owner};
    bytes_ += size;
  }
  // May leave the ends of a range.
  void unmap(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t end = address + std::min(size, ~std::uint64_t{0} - address);
    auto at = ranges_.upper_bound(address);
    if (at != ranges_.begin()) --at;
    while (at != ranges_.end() && at->first < end) {
      const std::uint64_t begin = at->first, until = begin + at->second.size;
      const std::uint32_t owner = at->second.owner;
      if (until <= address) {
        ++at;
        continue;
      }
      bytes_ -= at->second.size;
      at = ranges_.erase(at);
      if (begin < address) {
        ranges_[begin] = {address - begin, owner};
        bytes_ += address - begin;
      }
      if (until > end) {
        at = ranges_.insert_or_assign(end, Part{until - end, owner}).first;
        bytes_ += until - end;
        break;
      }
    }
  }

  std::uint64_t bytes() const { return bytes_; }
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [address, part] : blocks_) visit(part.owner, part.size);
    for (const auto& [address, part] : ranges_) visit(part.owner, part.size);
  }

 private:
  struct Part {
    std::uint64_t size = 0;
    std::uint32_t owner = 0;
  };
  std::unordered_map<std::uint64_t, Part> blocks_;
  std::map<std::uint64_t, Part> ranges_;
  std::uint64_t bytes_ = 0;
};

}  // namespace profd::memray
