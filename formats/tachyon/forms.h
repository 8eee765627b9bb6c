// The two forms that the sampling profiler of CPython 3.15 writes and nothing else reads: its binary
// recording and the lines of JSON that sum it up.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/reader.h"

namespace profd::tachyon {

// Where a frame stood. Numbers are as the file has them; those that are no line or column become none.
struct Place {
  std::string_view file, function;
  std::int64_t line = -1, column = -1;
};
FrameId make_frame(const Place& place, ProfileBuilder& builder);

// "wall" of number 1, "" of one that is not known.
std::string_view mode_name(std::uint32_t mode);

Result<void> read_recording(const ByteSource& source, ReadContext& context, ProfileBuilder& builder);
Result<void> read_aggregates(const ByteSource& source, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::tachyon
