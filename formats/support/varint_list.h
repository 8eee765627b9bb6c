// A packed list of protobuf varints, many at a time: where each one ends is found for 64 bytes at once, so
// that decoding one does not wait for the length of the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/support/protobuf_wire.h"

namespace profd::protobuf {

// Writes the values of `packed` to `values`, which has room for one a byte, and returns how many there are.
// Bytes up to `readable` (at least packed.end) may be looked at and do not matter. Nothing when the list is
// broken or a value takes more than three bytes: read_varint() tells these apart.
std::optional<std::size_t> read_short_varints(Cursor packed, const std::uint8_t* readable,
                                              std::uint32_t* values);

}  // namespace profd::protobuf
