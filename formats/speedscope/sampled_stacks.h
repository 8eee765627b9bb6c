// The stacks of sampled profiles, left in the text of the file until the tree is built: a copy would take as
// much memory again as the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/support/text_source.h"

namespace profd::speedscope {

class SampledStacks final : public StackSource {
 public:
  // `frames`: by index in shared.frames.
  SampledStacks(const DecodedText& decoded, std::vector<FrameId> frames)
      : text_(decoded.text), owner_(decoded.owner), base_(decoded.offset), frames_(std::move(frames)) {}

  // The next sample's stack is the array at this offset of the file: checked, every index in range.
  void add(std::uint64_t offset) { begins_.push_back(offset - base_); }

  std::size_t size() const override { return begins_.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override;
  // Values are the builder's: samples are added beside their stacks.
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override;

 private:
  std::string_view text_;
  std::shared_ptr<const void> owner_;
  std::uint64_t base_;
  std::vector<FrameId> frames_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace profd::speedscope
