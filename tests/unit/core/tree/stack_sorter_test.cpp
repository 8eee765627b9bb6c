#include "core/tree/stack_sorter.h"

#include <map>
#include <random>
#include <thread>

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Stack = std::vector<std::uint32_t>;

class ThreadedExecutor final : public Executor {
 public:
  unsigned width() const override { return 3; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < width(); ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
      });
    }
    for (auto& thread : threads) thread.join();
  }
};

class TestStacks final : public StackSource {
 public:
  explicit TestStacks(const std::vector<Stack>& stacks) : stacks_(stacks) {}
  std::size_t size() const override { return stacks_.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override {
    const std::size_t n = std::min(max, stacks_[i].size());
    std::copy_n(stacks_[i].begin(), n, frames);
    return n;
  }
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override {
    frames.insert(frames.end(), stacks_[i].begin(), stacks_[i].end());
    if (values) values[0] = static_cast<std::int64_t>(i) * 3 - 7;
    return LabelSetId{static_cast<std::uint32_t>(i % 5)};
  }

 private:
  const std::vector<Stack>& stacks_;
};

std::vector<Stack> random_stacks(unsigned seed, std::size_t n, std::size_t max_depth,
                                 std::uint32_t n_frames) {
  std::mt19937 random(seed);
  std::vector<Stack> stacks;
  for (std::size_t i = 0; i < n; ++i) {
    Stack stack;
    if (!stacks.empty() && random() % 3 != 0) {
      stack = stacks[random() % stacks.size()];
      stack.resize(random() % (stack.size() + 1));
    }
    const std::size_t more = random() % (max_depth + 1);
    while (stack.size() < more) stack.push_back(random() % n_frames);
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

Stack path_of(const ContextTree& tree, std::uint32_t context) {
  Stack path;
  for (; context != 0; context = tree.parent[context]) path.push_back(tree.frame[context]);
  return {path.rbegin(), path.rend()};
}

// Every law the sorted result must obey, checked against the plain stacks.
void check_sorted(const std::vector<Stack>& stacks, std::size_t group_limit, Executor& executor) {
  TestStacks source(stacks);
  const SortOptions options{.n_metrics = 1, .keep_order = true, .group_limit = group_limit};
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
  }
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
