// How often something was met in a file, and where first.
#pragma once

#include <cstdint>

namespace profd::perf_data {

struct Counter {
  std::uint64_t n = 0;
  std::uint64_t first = 0;
  void add(std::uint64_t offset, std::uint64_t count = 1) {
    if (n == 0) first = offset;
    n += count;
  }
};

}  // namespace profd::perf_data
