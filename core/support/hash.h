// Hashes for interning tables. Not for untrusted-key security: tables grow by load, and a collision
// costs a comparison, never a wrong answer.
#pragma once

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
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, left);
    hash = hash_combine(hash, word);
  }
  return mix64(hash);
}

}  // namespace profd
