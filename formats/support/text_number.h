// Numbers as text files write them. The whole of `text` must be the number; else false, and `out` is as it
// was.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace profd {

template <class T>
inline bool parse_number(std::string_view text, T& out, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  out = value;
  return true;
}

inline bool parse_int(std::string_view text, std::int64_t& out, int base = 10) {
  return parse_number(text, out, base);
}
inline bool parse_uint(std::string_view text, std::uint64_t& out, int base = 10) {
  return parse_number(text, out, base);
}
inline bool parse_uint(std::string_view text, std::uint32_t& out, int base = 10) {
  return parse_number(text, out, base);
}
// Hexadecimal with or without 0x.
inline bool parse_hex(std::string_view text, std::uint64_t& out) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_number(text, out, 16);
}
// Finite decimals only; "inf" and "nan" are no measurements.
bool parse_double(std::string_view text, double& out);

// Removes white space on both sides.
std::string_view trim(std::string_view text);

}  // namespace profd
