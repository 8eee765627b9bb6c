// How many values there would be if those that are referred to several times stood there each time. A few
// bytes a level make a structure of references that no walk over it ends; its real size is what has to be
// bounded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profd {

class ExpandedSize {
 public:
  // Real data refers to texts and small tuples, a few values for the bytes of each reference.
  explicit ExpandedSize(std::uint64_t n_bytes) : limit_(n_bytes * 16 + (1u << 20)) {}

  // Values are numbered in the order in which they are added; items stand before their container.
  void add_scalar() { sizes_.push_back(1); }
  // False when it became too large.
  bool add_container(std::span<const std::uint32_t> items) {
    std::uint64_t size = 1;
    for (const std::uint32_t item : items) {
      size += sizes_[item];
      if (size > limit_) return false;
    }
    sizes_.push_back(size);
    return true;
  }

 private:
  std::uint64_t limit_;
  std::vector<std::uint64_t> sizes_;
};

}  // namespace profd
