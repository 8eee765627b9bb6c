// Numbers of the live stream: seven bits a byte, lowest first, at most ten bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace profd::live {

// Moves `at` behind the number. False where it does not end before `end`, or is none of 64 bits; `at` then
// stands anywhere before `end`.
inline bool read_varint(const std::byte*& at, const std::byte* end, std::uint64_t& value) {
  if (at == end) return false;
  std::uint64_t byte = static_cast<std::uint64_t>(*at++);
  if (byte < 0x80) {
    value = byte;
    return true;
  }
  std::uint64_t result = byte & 0x7F;
  for (unsigned shift = 7; shift < 64; shift += 7) {
    if (at == end) return false;
    byte = static_cast<std::uint64_t>(*at++);
    if (shift == 63 && byte > 1) return false;
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      value = result;
      return true;
    }
  }
  return false;
}

template <class Out>  // of char
void append_varint(Out& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
}

}  // namespace profd::live
