#include "core/tree/stack_ranges.h"

#include <set>

#include "tests/support/catch.h"
#include "tests/unit/core/tree/test_stacks.h"

using namespace profd;

TEST_CASE("a stack is in the range between the separators it stands between") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const auto stacks = random_stacks(seed, 500, 1 + seed % 40, 2 + seed % 5);
    std::set<Stack> chosen;
    for (std::size_t i = 0; i < stacks.size(); i += 1 + seed % 7)
      if (!stacks[i].empty()) chosen.insert(stacks[i]);
    for (std::size_t i = 0; i < stacks.size(); i += 50) {
      Stack next = stacks[i];
      next.push_back(0);
      chosen.insert(next);
    }
    const std::vector<Stack> separators(chosen.begin(), chosen.end());
    const StackRanges ranges(separators);
    REQUIRE(ranges.size() == separators.size() + 1);
    for (const Stack& stack : stacks) {
      const auto expected =
          std::upper_bound(separators.begin(), separators.end(), stack) - separators.begin();
      const std::uint32_t range = ranges.find(stack.data(), std::min(stack.size(), ranges.deepest()));
      REQUIRE(range == static_cast<std::uint32_t>(expected));
      const std::uint32_t shared = ranges.shared(range);
      REQUIRE(shared <= stack.size());
      if (range > 0)
        REQUIRE(std::equal(stack.begin(), stack.begin() + shared, separators[range - 1].begin()));
      if (ranges.whole(range)) REQUIRE(stack == separators[range - 1]);
    }
  }
}

TEST_CASE("without separators all stacks are in one range") {
  const StackRanges ranges({});
  REQUIRE(ranges.size() == 1);
  REQUIRE(ranges.deepest() == 0);
  REQUIRE(ranges.find(nullptr, 0) == 0);
  REQUIRE(ranges.shared(0) == 0);
  REQUIRE_FALSE(ranges.whole(0));
}

TEST_CASE("a stack and its least successor hold the equal ones between them") {
  const Stack stack{4, 2};
  const StackRanges ranges({stack, {4, 2, 0}});
  REQUIRE(ranges.whole(1));
  REQUIRE(ranges.shared(1) == 2);
  REQUIRE_FALSE(ranges.whole(0));
  REQUIRE_FALSE(ranges.whole(2));
}
