// Records of `events`, as columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/live/wire.h"

namespace profd::live {

// Some records of one thread, in order; all columns equally long.
struct Records {
  static constexpr std::uint32_t kMost = 4096;
  struct Other {
    std::uint64_t operation = 0;
    std::string_view bytes;
  };
  std::uint32_t n = 0;
  std::uint64_t ticks[kMost];
  std::uint64_t ids[kMost];  // of `other`: index into `others`
  RecordKind kinds[kMost];
  std::vector<Other> others;  // their bytes lie in the payload
};

struct EventsHead {
  std::uint64_t thread = 0, ticks = 0;
};
// What stands before the records; takes it off `payload`.
Result<EventsHead> read_events_head(Bytes& payload);
// Fills `records` with what stands at the begin of `payload` and takes it off; `ticks` is the time that the
// first counts from, afterwards that of the last. Fails with `malformed`.
Result<void> read_records(Bytes& payload, std::uint64_t& ticks, Records& records);

}  // namespace profd::live
