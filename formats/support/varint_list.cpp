#include "formats/support/varint_list.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace profd::protobuf {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kWindow = 64;

// By length: the bytes of a varint among four that are read at once; of three at most.
constexpr std::uint32_t kOwnBytes[] = {0, 0xFF, 0xFFFF, 0xFFFFFF};
constexpr std::size_t kLongest = 3;

// Bit i: byte i is the last of a varint.
std::uint64_t last_bytes(const std::uint8_t* bytes) {
  std::uint64_t more = 0;
#if defined(__SSE2__)
  for (unsigned part = 0; part < kWindow / 16; ++part) {
    __m128i sixteen;
    std::memcpy(&sixteen, bytes + std::size_t{part} * 16, sizeof sixteen);
    more |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(sixteen))} << (16 * part);
  }
#else
  for (unsigned part = 0; part < kWindow / 8; ++part) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + std::size_t{part} * 8, sizeof eight);
    more |= (eight & 0x8080808080808080u) * 0x0002040810204081u >> 56 << (8 * part);
  }
#endif
  return ~more;
}

}  // namespace

std::optional<std::size_t> read_short_varints(Cursor packed, const std::uint8_t* readable,
                                              std::uint32_t* values) {
  std::uint8_t copy[kWindow + sizeof(std::uint32_t)] = {};
  std::uint32_t* to = values;
  std::size_t lengths = 0;
  for (const std::uint8_t* p = packed.p; p != packed.end;) {
    const auto n = std::min(kWindow, static_cast<std::size_t>(packed.end - p));
    const std::uint8_t* from = p;
    if (static_cast<std::size_t>(readable - p) < sizeof copy) {
      std::memcpy(copy, p, n);
      from = copy;
    }
    std::uint64_t lasts = last_bytes(from);
    if (n < kWindow) lasts &= (std::uint64_t{1} << n) - 1;
    std::size_t begin = 0;
    for (; lasts != 0; lasts &= lasts - 1) {
      const auto end = static_cast<std::size_t>(std::countr_zero(lasts)) + 1;
      const std::size_t length = end - begin;
      lengths |= length;
      std::uint32_t four;
      std::memcpy(&four, from + begin, sizeof four);
      const std::uint32_t own = four & kOwnBytes[length & kLongest];
      *to++ = (own & 0x7F) | (own >> 1 & 0x3F80) | (own >> 2 & 0x1FC000);
      begin = end;
    }
    p += begin;
    if (begin == 0 || (n < kWindow && begin < n)) return std::nullopt;
  }
  if (lengths > kLongest) return std::nullopt;
  return static_cast<std::size_t>(to - values);
}

}  // namespace profd::protobuf
