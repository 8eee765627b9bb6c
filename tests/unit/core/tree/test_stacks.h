// Stacks for tests of what sorts and groups them.
#pragma once

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "core/model/stack_source.h"
#include "core/support/executor.h"

namespace profd {

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

inline std::vector<Stack> random_stacks(unsigned seed, std::size_t n, std::size_t max_depth,
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

// The same stacks as bytes from leaf to root, as pprof has them: one number for one or two frames, the second
// byte of two (7 bits each) below 0x80. Frame f alone is f + 1; frames f and f + 1 are f + 1000.
class EncodedStacks final : public StackSource {
 public:
  explicit EncodedStacks(const std::vector<Stack>& stacks) : plain_(stacks) {
    for (const Stack& stack : stacks) {
      std::vector<std::uint32_t> numbers;
      for (std::size_t f = 0; f < stack.size(); ++f) {
        const bool two = f + 1 < stack.size() && stack[f + 1] == stack[f] + 1 && stack[f] % 3 != 0;
        numbers.push_back(stack[f] + (two ? 1000 : 1));
        f += two ? 1 : 0;
      }
      std::vector<std::uint8_t>& to = bytes_.emplace_back();
      to.reserve(1);
      for (std::size_t i = numbers.size(); i-- > 0;) {
        if (numbers[i] >= 0x80) to.push_back(static_cast<std::uint8_t>(0x80 | (numbers[i] & 0x7F)));
        to.push_back(static_cast<std::uint8_t>(numbers[i] >= 0x80 ? numbers[i] >> 7 : numbers[i]));
      }
    }
  }
  std::size_t size() const override { return plain_.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override {
    return plain_.prefix(i, frames, max);
  }
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override {
    return plain_.read(i, frames, values);
  }
  std::span<const std::uint8_t> encoded(std::size_t i) const override {
    return {bytes_[i].data(), bytes_[i].size()};
  }
  std::size_t begin_of(std::span<const std::uint8_t> end, bool whole, std::uint32_t* frames,
                       std::size_t max) const override {
    std::size_t first = 0;
    if (!whole) {
      while (first < end.size() && end[first] >= 0x80) ++first;
      first = std::min(first + 1, end.size());
    }
    std::size_t n = 0;
    for (std::size_t at = end.size(); at-- > first;) {
      std::uint32_t number = end[at];
      if (at > first && end[at - 1] >= 0x80) number = number << 7 | (end[--at] & 0x7Fu);
      if (n < max) frames[n++] = number >= 1000 ? number - 1000 : number - 1;
      if (number >= 1000 && n < max) frames[n++] = number - 999;
    }
    return n;
  }

 private:
  TestStacks plain_;
  std::vector<std::vector<std::uint8_t>> bytes_;
};

}  // namespace profd
