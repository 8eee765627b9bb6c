#include "core/model/stack_source.h"

namespace profd {

SharedFrames StackSource::shared_frames(std::size_t, std::uint32_t n) const {
  return {n, {}, 0};
}

LabelSetId StackSource::read_rest(std::size_t i, const SharedFrames& shared, RawVector<std::uint32_t>& frames,
                                  std::int64_t* values) const {
  const auto before = static_cast<std::ptrdiff_t>(frames.size());
  const LabelSetId labels = read(i, frames, values);
  frames.erase(frames.begin() + before, frames.begin() + before + shared.n);
  return labels;
}

std::span<const std::uint8_t> StackSource::encoded(std::size_t) const {
  return {};
}

std::size_t StackSource::begin_of(std::span<const std::uint8_t>, bool, std::uint32_t*, std::size_t) const {
  return 0;
}

}  // namespace profd
