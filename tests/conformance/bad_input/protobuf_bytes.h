// Protobuf messages put together by hand, to write what no encoder would.
#pragma once

#include <cstddef>
#include <string>

namespace profd::test {

inline std::string varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string field(int number, const std::string& body) {
  return static_cast<char>(number << 3 | 2) + varint(body.size()) + body;
}
inline std::string number_field(int number, std::size_t value) {
  return static_cast<char>(number << 3) + varint(value);
}
inline std::string repeated(std::size_t n, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

}  // namespace profd::test
