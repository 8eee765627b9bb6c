#include "formats/speedscope/sampled_stacks.h"

#include <algorithm>

namespace profd::speedscope {

void SampledStacks::copy(std::size_t begin, std::size_t n, std::uint32_t* out) const {
  if (is_narrow_)
    std::copy_n(narrow_.data() + begin, n, out);
  else
    std::copy_n(wide_.data() + begin, n, out);
}

std::size_t SampledStacks::prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const {
  const std::size_t n = std::min<std::size_t>(max, ends_[i] - begin(i));
  copy(begin(i), n, frames);
  return n;
}

LabelSetId SampledStacks::read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t*) const {
  const std::size_t n = ends_[i] - begin(i), before = frames.size();
  frames.resize(before + n);
  copy(begin(i), n, frames.data() + before);
  return LabelSetId{0u};
}

void SampledStacks::release() {
  narrow_ = {};
  wide_ = {};
  ends_ = {};
}

}  // namespace profd::speedscope
