// The range of a stack by the bytes it is encoded in, learnt from some stacks: most others end with the same
// bytes, and are told apart without being decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/stack_source.h"
#include "core/support/big_vector.h"
#include "core/tree/stack_ranges.h"

namespace profd {

class EncodedRanges {
 public:
  static constexpr std::uint32_t kUnknown = 0x7FFFFFFFu;

  // `depth`: leading frames that decide a range.
  EncodedRanges(const StackSource& source, const StackRanges& ranges, std::size_t depth)
      : source_(source), ranges_(ranges), frames_(depth + 1) {}

  void learn(std::size_t sample);
  // The ranges of `n` samples, at most kBatch; kUnknown where nothing learnt ends like one. Several are
  // followed side by side: a single one would mostly wait for memory.
  static constexpr std::size_t kBatch = 16;
  void find(const std::uint32_t* samples, std::size_t n, std::uint32_t* ranges) const;

 private:
  // One step along the bytes, from the end towards the front: eight of them, or the last ones that are left.
  struct Step {
    std::uint64_t bytes = 0;
    std::uint32_t from = 0;       // node
    std::uint32_t to = kUnknown;  // node, or kRange + range; kUnknown: a free place
  };
  static constexpr std::uint32_t kRange = 0x80000000u;

  static Step step(std::uint32_t node, const std::uint8_t* begin, const std::uint8_t*& end);
  std::size_t hashed(const Step& wanted) const;
  std::size_t place_of(const Step& wanted, std::size_t from) const;
  void grow();
  std::uint32_t only_range(std::span<const std::uint8_t> end, bool whole);

  const StackSource& source_;
  const StackRanges& ranges_;
  RawVector<std::uint32_t> frames_;
  BigVector<Step> steps_ = BigVector<Step>(64, Step{});  // an open hash table
  std::size_t n_steps_ = 0;
  std::uint32_t n_nodes_ = 1;
};

}  // namespace profd
