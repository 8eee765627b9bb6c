// Stacks that were added one by one, as one array of frames.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/model/stack_source.h"
#include "core/support/growing_vector.h"

namespace profd {

class CollectedStacks final : public StackSource {
 public:
  void add(std::span<const FrameId> root_first) {
    frames_.append(root_first.data(), root_first.size());
    ends_.push_back(frames_.size());
  }
  std::span<const FrameId> operator[](std::size_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return {frames_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
  }

  std::size_t size() const override { return ends_.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override {
    const std::span<const FrameId> stack = (*this)[i];
    const std::size_t n = std::min(max, stack.size());
    if (n > 0) std::memcpy(frames, stack.data(), n * sizeof(FrameId));
    return n;
  }
  // Values are the builder's.
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t*) const override {
    const std::span<const FrameId> stack = (*this)[i];
    const std::size_t before = frames.size();
    frames.resize(before + stack.size());
    if (!stack.empty()) std::memcpy(frames.data() + before, stack.data(), stack.size() * sizeof(FrameId));
    return LabelSetId{0u};
  }
  void release() override {
    frames_ = {};
    ends_ = {};
  }

 private:
  static_assert(sizeof(FrameId) == sizeof(std::uint32_t));
  GrowingVector<FrameId> frames_;
  GrowingVector<std::uint64_t> ends_;
};

}  // namespace profd
