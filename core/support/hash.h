// Hashes for interning tables. Not for untrusted-key security: tables grow by load, and a collision
// costs a comparison, never a wrong answer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace profd {

__extension__ using Wide = unsigned __int128;

inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  return x;
}

inline std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  const auto product = static_cast<Wide>(seed ^ 0x9E3779B97F4A7C15ull) * (value ^ 0xA0761D6478BD642Full);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The last `n` bytes, 1 to 7, of a text of `size` bytes as a number, the first one lowest. Whole loads: a
// copy of so few bytes of unknown number is a call.
inline std::uint64_t few_bytes(const char* p, std::size_t n, std::size_t size) {
  if constexpr (std::endian::native == std::endian::little) {
    if (size >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p + n - 8, 8);
      return word >> (64 - 8 * n);
    }
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < n; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return word;
}

inline std::uint64_t hash_bytes(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9E3779B97F4A7C15ull + 1;
  const char* p = text.data();
  std::size_t left = text.size();
  while (left >= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    hash = hash_combine(hash, word);
    p += 8;
    left -= 8;
  }
  if (left > 0) hash = hash_combine(hash, few_bytes(p, left, text.size()));
  return mix64(hash);
}

}  // namespace profd
