#include "core/tree/stack_sorter.h"

#include <map>

#include "tests/support/catch.h"
#include "tests/unit/core/tree/test_stacks.h"

using namespace profd;

namespace {

Stack path_of(const ContextTree& tree, std::uint32_t context) {
  Stack path;
  for (; context != 0; context = tree.parent[context]) path.push_back(tree.frame[context]);
  return {path.rbegin(), path.rend()};
}

// Every law the sorted result must obey, checked against the plain stacks.
template <class Source = TestStacks>
void check_sorted(const std::vector<Stack>& stacks, std::size_t group_limit, Executor& executor,
                  std::uint32_t n_frames = kNone) {
  Source source(stacks);
  const SortOptions options{
      .n_metrics = 1, .keep_order = true, .n_frames = n_frames, .group_limit = group_limit};
  const auto sorted = sort_stacks(source, options, executor, {});
  REQUIRE(sorted.has_value());
  REQUIRE(is_well_formed(sorted->tree, kNone - 1));
  REQUIRE(sorted->order.size() == stacks.size());
  std::vector<bool> seen(stacks.size(), false);
  std::map<Stack, int> prefixes{{{}, 0}};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::uint32_t sample = sorted->order[i];
    REQUIRE_FALSE(seen[sample]);
    seen[sample] = true;
    REQUIRE(path_of(sorted->tree, sorted->leaf[i]) == stacks[sample]);
    REQUIRE(sorted->values[0][i] == static_cast<std::int64_t>(sample) * 3 - 7);
    REQUIRE(sorted->labels[i] == sample % 5);
    if (i > 0) {
      REQUIRE(sorted->leaf[i - 1] <= sorted->leaf[i]);
      if (sorted->leaf[i - 1] == sorted->leaf[i]) REQUIRE(sorted->order[i - 1] < sample);
    }
    for (std::size_t d = 1; d <= stacks[i].size(); ++d)
      prefixes[Stack(stacks[i].begin(), stacks[i].begin() + static_cast<std::ptrdiff_t>(d))];
  }
  REQUIRE(sorted->tree.size() == prefixes.size());
}

}  // namespace

TEST_CASE("sorted stacks give every sample its own path, once, at any group size and on several threads") {
  SerialExecutor serial;
  ThreadedExecutor threaded;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const auto stacks = random_stacks(seed, 400, 1 + seed % 30, 2 + seed % 7);
    check_sorted(stacks, 1u << 16, serial);
    check_sorted(stacks, 1, serial);
    check_sorted(stacks, 16, threaded);
    check_sorted<EncodedStacks>(stacks, 1, serial);
    check_sorted<EncodedStacks>(stacks, 16, threaded);
  }
}

TEST_CASE("stacks that begin alike for longer than is looked at are sorted all the same") {
  SerialExecutor serial;
  std::vector<Stack> stacks = random_stacks(7, 300, 12, 3);
  for (Stack& stack : stacks) stack.insert(stack.begin(), 700, 5);
  check_sorted(stacks, 8, serial);
  check_sorted<EncodedStacks>(stacks, 8, serial);
}

TEST_CASE("however many frames are compared at once, stacks come out in order") {
  SerialExecutor serial;
  // Where one more frame needs one bit more, and numbers of 64, 32, 21, 16 and 2 frames.
  for (const std::uint32_t n_frames : {1u, 2u, 3u, 4u, 7u, 8u, 15u, 16u, 255u, 256u, 65535u, 65536u}) {
    INFO("frames " << n_frames);
    std::vector<Stack> stacks = random_stacks(n_frames, 500, 40, std::min(n_frames, 5u));
    for (Stack& stack : stacks)
      for (std::uint32_t& frame : stack) frame = n_frames - 1 - frame;
    check_sorted(stacks, 1u << 16, serial, n_frames);
    check_sorted(stacks, 8, serial, n_frames);
  }
}

TEST_CASE("stacks that one thread sorts at once are those that several sort in groups") {
  SerialExecutor serial;
  ThreadedExecutor threaded;
  const auto stacks = random_stacks(3, 6000, 12, 4);
  check_sorted(stacks, 1u << 16, serial, 4);
  check_sorted(stacks, 1u << 16, threaded, 4);
}

TEST_CASE("no stacks give a tree of the root alone") {
  SerialExecutor serial;
  check_sorted({}, 8, serial);
  check_sorted({{}}, 8, serial);
}

TEST_CASE("many equal deep stacks are one path") {
  SerialExecutor serial;
  Stack deep;
  for (std::uint32_t i = 0; i < 3000; ++i) deep.push_back(i % 3);
  std::vector<Stack> stacks(60, deep);
  stacks.push_back(Stack(deep.begin(), deep.begin() + 2999));
  TestStacks source(stacks);
  const auto sorted = sort_stacks(source, {.n_metrics = 1, .keep_order = true, .group_limit = 4}, serial, {});
  REQUIRE(sorted->tree.size() == 3001);
  REQUIRE(sorted->order.front() == 60);
}

TEST_CASE("a stopped sort says so") {
  SerialExecutor serial;
  StopSource stop;
  stop.request_stop();
  const auto stacks = random_stacks(1, 50, 5, 5);
  TestStacks source(stacks);
  const auto sorted = sort_stacks(source, {.n_metrics = 1}, serial, StopToken(stop));
  REQUIRE_FALSE(sorted.has_value());
  REQUIRE(sorted.error().code == ErrorCode::cancelled);
}
