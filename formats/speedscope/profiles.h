// Reading one element of "profiles" into a builder.
#pragma once

#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/speedscope/document.h"
#include "formats/speedscope/sampled_stacks.h"
#include "formats/speedscope/values.h"

namespace profd::speedscope {

// What the profiles of one builder share.
struct Target {
  ProfileBuilder& builder;
  const std::vector<FrameId>& frames;  // by index in shared.frames
  ReadContext& context;
  ValueReader& values;
  bool is_time = false;
  Amount origin;                    // of sample times
  std::uint64_t n_bytes;            // of the file, for progress
  SampledStacks* stacks = nullptr;  // takes the stacks of sampled profiles when all profiles are sampled
  std::uint64_t n_unclosed = 0;
};

// Both stop early, and successfully, when the values turn out to need fractions.
Result<void> read_evented(const JsonCursor& document, const ProfilePlace& place, ThreadId thread,
                          Target& target);
Result<void> read_sampled(const JsonCursor& document, const ProfilePlace& place, ThreadId thread,
                          Target& target);

}  // namespace profd::speedscope
