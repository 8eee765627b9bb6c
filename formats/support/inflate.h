// zlib, where libdeflate cannot say how far a damaged stream is good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/support/expansion.h"
#include "formats/support/output_buffer.h"

namespace profd {

// What is around the deflated data.
enum class Deflated : std::uint8_t { raw, gzip };

struct Inflated {
  std::size_t in = 0, out = 0;
  std::optional<Error>
      damage;  // set when the stream ends early or is broken; what came before is in the buffer
};

// One stream, from `start` of `in` on; its bytes go to `out` behind the first `used`.
Result<Inflated> inflate_as_far_as_good(std::span<const std::byte> in, std::size_t start, Deflated kind,
                                        OutputBuffer& out, std::size_t used, const ExpandOptions& options);

// Four times the room, within the limit; an error when it is used up. `claimed`: the size that the file says
// it has, 0 unknown.
Result<void> make_room_for_more(OutputBuffer& out, std::size_t used, const ExpansionLimit& limit,
                                std::uint64_t offset, std::uint64_t claimed = 0);

}  // namespace profd
