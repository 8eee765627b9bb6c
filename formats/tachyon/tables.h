// The tables behind the samples of a binary recording: texts, and frames that refer to them.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/reader.h"
#include "formats/support/byte_cursor.h"

namespace profd::tachyon {

inline constexpr std::uint8_t kNoOpcode = 255;

struct Frames {
  std::vector<FrameId> id;           // none: of the profiler itself, which its own outputs leave out
  std::vector<std::uint8_t> opcode;  // that was being executed, or kNoOpcode
  std::uint64_t n_of_profiler = 0;
};

// `strings` and `frames` stand where the tables begin, and end where what follows them does. Fails with the
// place of the first entry that is broken.
Result<Frames> read_tables(ByteCursor strings, std::uint32_t n_strings, ByteCursor frames,
                           std::uint32_t n_frames, ProfileBuilder& builder);

}  // namespace profd::tachyon
