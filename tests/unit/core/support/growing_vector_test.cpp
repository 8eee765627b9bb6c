#include "core/support/growing_vector.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a growing vector keeps its values through every size of block") {
  // From the heap over the first mapped block to blocks that are mapped anew.
  constexpr std::uint32_t kValues = (5u << 20) + 3;
  GrowingVector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < kValues; ++i) values.push_back(i * 7);
  REQUIRE(values.size() == kValues);
  std::uint32_t i = 0;
  for (const std::uint32_t value : values) {
    if (value != i * 7) FAIL("value " << i << " is " << value);
    ++i;
  }

  GrowingVector<std::uint32_t> taken = std::move(values);
  CHECK(values.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is promised
  CHECK(taken.back() == (kValues - 1) * 7);
  values.push_back(1);
  taken = std::move(values);
  REQUIRE(taken.size() == 1);
  CHECK(taken[0] == 1);
}

TEST_CASE("a growing vector is resized with a value, appended to, and frozen") {
  GrowingVector<std::int64_t> values;
  CHECK(freeze(GrowingVector<std::int64_t>()).empty());
  values.resize(3, 5);
  const std::vector<std::int64_t> more{1, 2, 3};
  values.append(more.data(), more.size());
  values.append(nullptr, 0);
  values.resize(7);
  const Column<std::int64_t> column = freeze(std::move(values));
  const std::vector<std::int64_t> expected{5, 5, 5, 1, 2, 3, 0};
  CHECK(std::vector<std::int64_t>(column.begin(), column.end()) == expected);
}
