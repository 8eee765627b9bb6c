// The stacks of sampled profiles as columns, in half the memory that frame ids take where there are few
// frames.
#pragma once

#include <cstdint>

#include "core/model/profile_builder.h"
#include "core/model/stack_source.h"
#include "core/support/growing_vector.h"

namespace profd::speedscope {

class SampledStacks final : public StackSource {
 public:
  // All frames are known: ids are below n_frames.
  explicit SampledStacks(std::size_t n_frames) : is_narrow_(n_frames <= 1u << 16) {}

  // The next frame of the stack in hand, root first.
  void push(FrameId frame) {
    if (is_narrow_)
      narrow_.push_back(static_cast<std::uint16_t>(frame.v));
    else
      wide_.push_back(frame.v);
  }
  void end_stack() { ends_.push_back(is_narrow_ ? narrow_.size() : wide_.size()); }

  std::size_t size() const override { return ends_.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override;
  // Values are the builder's: samples are added beside their stacks.
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override;
  void release() override;

 private:
  std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
  void copy(std::size_t begin, std::size_t n, std::uint32_t* out) const;

  bool is_narrow_;
  GrowingVector<std::uint16_t> narrow_;
  GrowingVector<std::uint32_t> wide_;
  GrowingVector<std::uint64_t> ends_;
};

}  // namespace profd::speedscope
