// Finding the few bytes of a JSON text that matter, 16 at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace profd::json_scan {

// First byte of [p, end) that ends or interrupts a string: a quote, a backslash, a control character.
// Sets `non_ascii` when a byte above 0x7F stands before it (never clears it).
inline const char* find_string_end(const char* p, const char* end, bool& non_ascii) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
  for (; end - p >= 16; p += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i hit =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, escape)),
                     _mm_cmpeq_epi8(_mm_min_epu8(block, control), block));
    const auto high = static_cast<unsigned>(_mm_movemask_epi8(block));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hit));
    if (mask != 0) {
      const int at = std::countr_zero(mask);
      non_ascii |= (high & ((1u << at) - 1)) != 0;
      return p + at;
    }
    non_ascii |= high != 0;
  }
#endif
  for (; p != end; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\' || c < 0x20) return p;
    non_ascii |= c >= 0x80;
  }
  return p;
}

// First quote, bracket or brace of [p, end).
inline const char* find_structure(const char* p, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), fold = _mm_set1_epi8(0x20);
  const __m128i open = _mm_set1_epi8('{'),
                close = _mm_set1_epi8('}');  // '[' | 0x20 is '{', ']' | 0x20 is '}'
  for (; end - p >= 16; p += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i folded = _mm_or_si128(block, fold);
    const __m128i hit =
        _mm_or_si128(_mm_cmpeq_epi8(block, quote),
                     _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hit));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  for (; p != end; ++p) {
    const char folded = static_cast<char>(*p | 0x20);
    if (*p == '"' || folded == '{' || folded == '}') return p;
  }
  return p;
}

// A whole number of one to seven digits at `p`, of which eight bytes can be read: how many digits it has, or
// 0 for anything else (more digits, none, a leading zero). All digits at once: a loop over them guesses wrong
// about where each number ends.
inline unsigned small_number(const char* p, std::uint32_t& value) {
  if constexpr (std::endian::native != std::endian::little) return 0;
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  word ^= 0x3030303030303030u;  // digits are 0 to 9 now, all else is above
  const std::uint64_t others =
      (((word & 0x7F7F7F7F7F7F7F7Fu) + 0x7676767676767676u) | word) & 0x8080808080808080u;
  const auto n = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (n == 0 || n == 8 || ((word & 0xFF) == 0 && n > 1)) return 0;
  word <<= 64 - 8 * n;
  word = word * 10 + (word >> 8);  // pairs of digits in every other byte, then of pairs, then of fours
  word = ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
          ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
         32;
  value = static_cast<std::uint32_t>(word);
  return n;
}

}  // namespace profd::json_scan
