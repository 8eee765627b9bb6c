#include "core/tree/encoded_ranges.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/support/hash.h"
#include "core/support/id.h"

namespace profd {

// `end` moves to what comes next. The number of bytes left stands above the node, so that a short step is
// never taken for a whole one with zeros.
inline EncodedRanges::Step EncodedRanges::step(std::uint32_t node, const std::uint8_t* begin,
                                               const std::uint8_t*& end) {
  constexpr std::size_t kWhole = sizeof(std::uint64_t);
  Step wanted;
  const auto left = static_cast<std::size_t>(end - begin);
  if (left >= kWhole) {
    end -= kWhole;
    std::memcpy(&wanted.bytes, end, kWhole);
    wanted.from = node;
  } else {
    std::memcpy(&wanted.bytes, begin, left);
    end = begin;
    wanted.from = node | static_cast<std::uint32_t>(left + 1) << 28;
  }
  return wanted;
}

inline std::size_t EncodedRanges::hashed(const Step& wanted) const {
  return hash_combine(wanted.bytes, wanted.from) & (steps_.size() - 1);
}

// Where the step stands, or the free place where it would.
inline std::size_t EncodedRanges::place_of(const Step& wanted, std::size_t from) const {
  for (std::size_t i = from;; i = (i + 1) & (steps_.size() - 1)) {
    const Step& there = steps_[i];
    if (there.to == kUnknown || (there.bytes == wanted.bytes && there.from == wanted.from)) return i;
  }
}

void EncodedRanges::grow() {
  BigVector<Step> old(steps_.size() * 2, Step{});
  old.swap(steps_);
  for (const Step& known : old)
    if (known.to != kUnknown) steps_[place_of(known, hashed(known))] = known;
}

// The one range of all stacks that end with these bytes; kUnknown when there are several.
std::uint32_t EncodedRanges::only_range(std::span<const std::uint8_t> end, bool whole) {
  const std::size_t n = source_.begin_of(end, whole, frames_.data(), frames_.size() - 1);
  const std::uint32_t first = ranges_.find(frames_.data(), n);
  if (whole || n + 1 == frames_.size()) return first;
  frames_[n] = kNone;  // beyond any frame
  return ranges_.find(frames_.data(), n + 1) == first ? first : kUnknown;
}

void EncodedRanges::learn(std::size_t sample) {
  constexpr std::uint32_t kMostNodes = (1u << 28) - 1;
  const std::span<const std::uint8_t> encoded = source_.encoded(sample);
  const std::uint8_t *const begin = encoded.data(), *const stop = begin + encoded.size(), *end = stop;
  for (std::uint32_t node = 0; node < kRange;) {
    const bool whole = static_cast<std::size_t>(end - begin) < sizeof(std::uint64_t);
    Step wanted = step(node, begin, end);
    std::size_t place = place_of(wanted, hashed(wanted));
    if (steps_[place].to == kUnknown) {
      const std::uint32_t range = only_range({end, stop}, whole);
      if (range == kUnknown && n_nodes_ == kMostNodes) return;
      wanted.to = range == kUnknown ? n_nodes_++ : kRange + range;
      if (++n_steps_ * 2 > steps_.size()) {
        grow();
        place = place_of(wanted, hashed(wanted));
      }
      steps_[place] = wanted;
    }
    node = steps_[place].to;
  }
}

void EncodedRanges::find(const std::uint32_t* samples, std::size_t n, std::uint32_t* ranges) const {
  struct Walk {
    const std::uint8_t *begin, *end;
    std::size_t hashed;
    Step wanted;
    std::uint32_t index, node;
  };
  std::array<Walk, kBatch> walks;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::span<const std::uint8_t> encoded = source_.encoded(samples[i]);
    walks[i] = {encoded.data(), encoded.data() + encoded.size(), 0, {}, i, 0};
  }
  for (std::size_t left = n; left > 0;) {
    for (std::size_t w = 0; w < left; ++w) {
      Walk& walk = walks[w];
      walk.wanted = step(walk.node, walk.begin, walk.end);
      walk.hashed = hashed(walk.wanted);
      __builtin_prefetch(&steps_[walk.hashed]);
    }
    for (std::size_t w = left; w-- > 0;) {
      Walk& walk = walks[w];
      walk.node = steps_[place_of(walk.wanted, walk.hashed)].to;
      if (walk.node < kUnknown) continue;
      ranges[walk.index] = walk.node & kUnknown;
      walk = walks[--left];
    }
  }
}

}  // namespace profd
