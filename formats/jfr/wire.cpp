#include "formats/jfr/wire.h"

#include "formats/support/utf8.h"

namespace profd::jfr {
namespace {

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::byte b : bytes) value = value << 8 | std::to_integer<std::uint64_t>(b);
  return value;
}

}  // namespace

std::span<const std::byte> Wire::bytes(std::uint64_t n) {
  const std::byte* const from = p_;
  skip(n);
  return ok_ ? std::span(from, static_cast<std::size_t>(n)) : std::span<const std::byte>();
}

double Wire::f32() {
  return std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(bytes(4))));
}

double Wire::f64() {
  return std::bit_cast<double>(big_endian(bytes(8)));
}

Text Wire::text() {
  Text text;
  const std::uint8_t code = byte();
  switch (code) {
    case 0:
    case 1:
      text.code = static_cast<Text::Code>(code);
      return text;
    case 2:
      text.code = Text::Code::pooled;
      text.key = varint();
      return text;
    case 3:
    case 5:
      text.code = static_cast<Text::Code>(code);
      text.bytes = bytes(varint());
      return text;
    case 4: {
      text.code = Text::Code::utf16;
      const std::uint64_t units = varint();
      if (units > left()) {
        stop();
        return text;
      }
      const std::byte* const from = p_;
      for (std::uint64_t i = 0; i < units; ++i) varint();
      text.bytes = {from, p_};
      return text;
    }
    default:
      stop();
      return text;
  }
}

void append_text(const Text& text, std::string& out) {
  if (text.code == Text::Code::utf8) {
    out.append(reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size());
  } else if (text.code == Text::Code::latin1) {
    for (std::byte b : text.bytes) append_utf8(out, std::to_integer<std::uint32_t>(b));
  } else if (text.code == Text::Code::utf16) {
    Wire units(text.bytes, 0);
    std::uint32_t high = 0;
    while (units.left() > 0) {
      const auto unit = static_cast<std::uint32_t>(units.varint() & 0xFFFF);
      const bool low = unit >= 0xDC00 && unit < 0xE000;
      if (high != 0) append_utf8(out, low ? 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00) : 0xFFFD);
      if (low && high != 0) {
        high = 0;
        continue;
      }
      high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
      if (high == 0) append_utf8(out, low ? 0xFFFD : unit);
    }
    if (high != 0) append_utf8(out, 0xFFFD);
  }
}

}  // namespace profd::jfr
