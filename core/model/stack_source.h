// StackSource: the stacks of a profile that is about to be built, wherever and however they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/tables.h"
#include "core/support/big_vector.h"
#include "core/support/result.h"

namespace profd {

// The first frames that stacks of a StackSource have in common.
struct SharedFrames {
  std::uint32_t n = 0;
  // Set by a source that tells by these bytes of its encoding, without decoding them, that a stack begins so:
  // they stand for the first n_encoded frames, not more than n.
  std::span<const std::uint8_t> encoded;
  std::uint32_t n_encoded = 0;
};

// Stacks that a reader keeps in its own encoding. Calls may come from several threads at once, each for
// another sample, and must be cheap: finish() asks for the first frames of every stack, then for the whole.
class StackSource {
 public:
  virtual ~StackSource() = default;
  virtual std::size_t size() const = 0;
  // Writes at most `max` frames of sample i, root first, and returns how many were written.
  virtual std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const = 0;
  // Appends all frames of sample i, root first; when `values` is not null, also writes its values (one per
  // metric) there. Returns its label set.
  virtual LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const = 0;
  // The first `n` frames of sample i, to be shared with others; it has as many.
  virtual SharedFrames shared_frames(std::size_t i, std::uint32_t n) const;
  // As read(), of a sample that begins with the shared frames: they are left out.
  virtual LabelSetId read_rest(std::size_t i, const SharedFrames& shared, RawVector<std::uint32_t>& frames,
                               std::int64_t* values) const;
  // Bytes that stand for sample i's stack, from the leaf to the root; empty when the source has none. Stacks
  // whose bytes end alike begin with the same frames.
  virtual std::span<const std::uint8_t> encoded(std::size_t i) const;
  // Writes the frames, at most `max`, that are sure to begin every stack whose bytes end with these (`whole`:
  // are these), and returns how many were written.
  virtual std::size_t begin_of(std::span<const std::uint8_t> end, bool whole, std::uint32_t* frames,
                               std::size_t max) const;
  // Sample i will be asked for: soon (its index entry may be fetched), then very soon (its bytes).
  virtual void prefetch_index(std::size_t i) const { static_cast<void>(i); }
  virtual void prefetch(std::size_t i) const { static_cast<void>(i); }
  // Asked after all stacks were read: an error met on the way (calls above cannot fail; they give what they
  // can).
  virtual Result<void> status() const { return {}; }
  // Nothing is asked any more: what the stacks need can be freed.
  virtual void release() {}
};

}  // namespace profd
