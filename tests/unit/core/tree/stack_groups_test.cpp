#include "core/tree/stack_groups.h"

#include "tests/support/catch.h"
#include "tests/unit/core/tree/test_stacks.h"

using namespace profd;

namespace {

// Groups one after the other are all samples; each stack of a group comes before each of the next, or is
// equal.
void check_groups(const StackGroups& out, const std::vector<Stack>& stacks,
                  const std::vector<std::uint32_t>& given) {
  REQUIRE(out.samples.size() == given.size());
  std::vector<std::uint32_t> all(out.samples.begin(), out.samples.end()), wanted = given;
  std::sort(all.begin(), all.end());
  std::sort(wanted.begin(), wanted.end());
  REQUIRE(all == wanted);
  std::size_t at = 0;
  const Stack* largest_before = nullptr;
  for (const StackGroup& group : out.groups) {
    REQUIRE(group.begin == at);
    REQUIRE(group.end > group.begin);
    at = group.end;
    const Stack& first = stacks[out.samples[group.begin]];
    REQUIRE(first.size() >= group.shared);
    const Stack* largest = &first;
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const Stack& stack = stacks[out.samples[i]];
      REQUIRE(stack.size() >= group.shared);
      REQUIRE(std::equal(stack.begin(), stack.begin() + group.shared, first.begin()));
      if (group.whole) REQUIRE(stack == first);
      if (largest_before) REQUIRE(*largest_before < stack);
      if (i > group.begin) REQUIRE(out.samples[i - 1] < out.samples[i]);
      if (*largest < stack) largest = &stack;
    }
    largest_before = largest;
  }
  REQUIRE(at == given.size());
}

}  // namespace

TEST_CASE("groups are runs of neighbours, each in the order of arrival") {
  SerialExecutor serial;
  ThreadedExecutor threaded;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    const auto stacks = random_stacks(seed, seed % 3 == 0 ? 20000 : 900, 1 + seed * 3, 2 + seed % 6);
    std::vector<std::uint32_t> all, some;
    for (std::uint32_t i = 0; i < stacks.size(); ++i) {
      all.push_back(i);
      if (i % 3 != 1) some.push_back(i);
    }
    const TestStacks plain(stacks);
    const EncodedStacks encoded(stacks);
    check_groups(group_stacks(plain, {40, 128}, serial, {}), stacks, all);
    check_groups(group_stacks(plain, {3, 8}, threaded, {}), stacks, all);
    check_groups(group_stacks(encoded, {40, 128}, threaded, {}), stacks, all);
    check_groups(group_stacks(encoded, some, {5, 128}, serial, {}), stacks, some);
  }
}

TEST_CASE("many equal stacks have a group of their own") {
  SerialExecutor serial;
  std::vector<Stack> stacks = random_stacks(3, 1000, 10, 6);
  for (std::size_t i = 0; i < stacks.size(); i += 2) stacks[i] = {1, 2, 3};
  const EncodedStacks source(stacks);
  const StackGroups out = group_stacks(source, {20, 128}, serial, {});
  const auto whole = std::find_if(out.groups.begin(), out.groups.end(),
                                  [](const StackGroup& group) { return group.end - group.begin >= 500; });
  REQUIRE(whole != out.groups.end());
  REQUIRE(whole->whole);
  REQUIRE(whole->shared == 3);
}

TEST_CASE("no samples make no groups") {
  SerialExecutor serial;
  const std::vector<Stack> none;
  REQUIRE(group_stacks(TestStacks(none), {}, serial, {}).groups.empty());
  const std::vector<Stack> stacks{{1}};
  REQUIRE(group_stacks(TestStacks(stacks), std::span<const std::uint32_t>{}, {}, serial, {}).groups.empty());
}
