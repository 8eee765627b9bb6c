#include "formats/support/code_ranges.h"

#include <random>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("code ranges: an address has the row that was inserted there last") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    CodeRanges ranges;
    std::vector<std::uint32_t> plain(64, kNone);
    for (std::uint32_t row = 0; row < 40; ++row) {
      const std::uint64_t start = random() % 64, end = start + random() % (65 - start);
      bool any = false;
      for (std::uint64_t i = start; i < end; ++i) any |= plain[i] != kNone;
      if (random() % 4 == 0) {
        CHECK(ranges.erase(start, end) == any);
        std::fill(plain.begin() + static_cast<std::ptrdiff_t>(start),
                  plain.begin() + static_cast<std::ptrdiff_t>(end), kNone);
      } else {
        CHECK(ranges.insert(start, end, row) == any);
        std::fill(plain.begin() + static_cast<std::ptrdiff_t>(start),
                  plain.begin() + static_cast<std::ptrdiff_t>(end), row);
      }
    }
    for (std::uint64_t i = 0; i < 64; ++i) CHECK(ranges.find(i) == plain[i]);
  }
}
