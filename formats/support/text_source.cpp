#include "formats/support/text_source.h"

#include <algorithm>
#include <cstdint>

#include "formats/support/utf8.h"

namespace profd {
namespace {

enum class Encoding { utf8, utf8_mark, utf16_le, utf16_be };

Encoding encoding_of(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? std::to_integer<unsigned>(bytes[i]) : 256u;
  };
  if (at(0) == 0xEF && at(1) == 0xBB && at(2) == 0xBF) return Encoding::utf8_mark;
  if (at(0) == 0xFF && at(1) == 0xFE) return Encoding::utf16_le;
  if (at(0) == 0xFE && at(1) == 0xFF) return Encoding::utf16_be;
  return Encoding::utf8;
}

std::uint32_t unit_at(std::span<const std::byte> bytes, std::size_t i, bool big_endian) {
  const auto first = std::to_integer<std::uint32_t>(bytes[i]),
             second = std::to_integer<std::uint32_t>(bytes[i + 1]);
  return big_endian ? first << 8 | second : second << 8 | first;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

DecodedText decode_text(const ByteSource& source, ImportReport& report) {
  const auto bytes = source.bytes();
  const Encoding encoding = encoding_of(bytes);
  if (encoding == Encoding::utf8) return {source.text(), source.owner(), 0};
  if (encoding == Encoding::utf8_mark) return {source.text().substr(3), source.owner(), 3};

  const bool big_endian = encoding == Encoding::utf16_be;
  auto out = std::make_shared<std::string>();
  out->reserve(bytes.size() / 2 + 16);
  std::uint64_t damaged = bytes.size() % 2;
  for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
    const std::uint32_t unit = unit_at(bytes, i, big_endian);
    if (unit < 0xD800 || unit > 0xDFFF) {
      append_utf8(*out, unit);
      continue;
    }
    const std::uint32_t next = i + 3 < bytes.size() ? unit_at(bytes, i + 2, big_endian) : 0;
    if (unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF) {
      append_utf8(*out, 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00));
      i += 2;
    } else {
      append_utf8(*out, 0xFFFD);
      ++damaged;
    }
  }
  report.add("utf-16", Severity::info,
             "the file is UTF-16; places are given in the text after conversion to UTF-8");
  report.add("invalid-utf-16", Severity::loss, "characters that are no UTF-16 were replaced by U+FFFD",
             std::nullopt, damaged);
  const std::string_view text = *out;
  return {text, std::move(out), 0};
}

std::string_view sniff_text(std::span<const std::byte> bytes, std::span<char> buffer) {
  const Encoding encoding = encoding_of(bytes);
  if (encoding == Encoding::utf8) return as_text(bytes);
  if (encoding == Encoding::utf8_mark) return as_text(bytes).substr(3);
  std::size_t n = 0;
  for (std::size_t i = 2; i + 1 < bytes.size() && n < buffer.size(); i += 2) {
    const std::uint32_t unit = unit_at(bytes, i, encoding == Encoding::utf16_be);
    buffer[n++] = unit < 0x80 ? static_cast<char>(unit) : '?';
  }
  return {buffer.data(), n};
}

}  // namespace profd
