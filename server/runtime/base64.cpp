#include "server/runtime/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace profd {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 255;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNoDigit;
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::size_t padding_of(std::string_view text) {
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  return padding;
}

}  // namespace

std::size_t bytes_in_base64(std::string_view text) {
  return text.size() / 4 * 3 - std::min(padding_of(text), text.size() / 4 * 3);
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = padding_of(text);
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t n = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < n ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value == kNoDigit) return std::nullopt;
      word = word << 6 | value;
    }
    for (std::size_t k = 0; k + 1 < n; ++k) out += static_cast<char>(word >> (16 - 8 * k) & 255);
  }
  return out;
}

std::string to_base64url(std::string_view bytes) {
  std::string out = to_base64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

}  // namespace profd
