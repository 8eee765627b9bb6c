// The few protobuf primitives of the hot paths: bounded varints forwards and backwards, and field headers.
// A failed read returns false and leaves the cursor where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profd::protobuf {

// `none` is no field's: schemas have it where a number is not used.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5, none = 7 };

// The first byte of a field whose number is below 16.
constexpr std::uint8_t short_tag(std::uint32_t number, Wire wire) {
  return static_cast<std::uint8_t>(number << 3 | static_cast<std::uint32_t>(wire));
}

struct Cursor {
  const std::uint8_t* p = nullptr;
  const std::uint8_t* end = nullptr;

  Cursor() = default;
  Cursor(const std::uint8_t* begin, const std::uint8_t* stop) : p(begin), end(stop) {}
  explicit Cursor(std::span<const std::byte> bytes)
      : p(reinterpret_cast<const std::uint8_t*>(bytes.data())), end(p + bytes.size()) {}
  bool done() const { return p == end; }
  std::size_t left() const { return static_cast<std::size_t>(end - p); }
};

inline bool read_varint(Cursor& cursor, std::uint64_t& value) {
  const std::uint8_t* p = cursor.p;
  if (p < cursor.end && *p < 0x80) {
    value = *p;
    cursor.p = p + 1;
    return true;
  }
  if (cursor.left() >= 2 && p[1] < 0x80) {
    value = (p[0] & 0x7Fu) | std::uint64_t{p[1]} << 7;
    cursor.p = p + 2;
    return true;
  }
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (p == cursor.end) return false;
    const std::uint8_t byte = *p++;
    result |= std::uint64_t{byte & 0x7Fu} << (shift > 63 ? 63 : shift);
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) return false;
      value = result;
      cursor.p = p;
      return true;
    }
  }
  return false;
}

// Reads the varint that ends right before `p`; the bytes before `begin` are not looked at. The last byte of
// a varint is the only one below 0x80, which is what makes this possible.
inline bool read_varint_backwards(const std::uint8_t* begin, const std::uint8_t*& p, std::uint64_t& value) {
  if (p == begin || p[-1] >= 0x80) return false;
  const std::uint8_t* q = p - 1;
  std::uint64_t result = *q;
  while (q > begin && q[-1] >= 0x80) {
    --q;
    result = (result << 7) | (*q & 0x7Fu);
    if (p - q > 10) return false;
  }
  value = result;
  p = q;
  return true;
}

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  // varint, fixed32, fixed64
  Cursor bytes;             // length-delimited
};

// Reads one field, header and content.
inline bool read_field(Cursor& cursor, Field& field) {
  Cursor at = cursor;
  std::uint64_t tag;
  if (!read_varint(at, tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return false;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.wire = Wire::varint;
      if (!read_varint(at, field.value)) return false;
      break;
    case 1:
    case 5: {
      const std::size_t n = (tag & 7) == 1 ? 8 : 4;
      field.wire = n == 8 ? Wire::fixed64 : Wire::fixed32;
      if (at.left() < n) return false;
      field.value = 0;
      for (std::size_t i = 0; i < n; ++i) field.value |= std::uint64_t{at.p[i]} << (8 * i);
      at.p += n;
      break;
    }
    case 2: {
      field.wire = Wire::length;
      std::uint64_t n;
      if (!read_varint(at, n) || n > at.left()) return false;
      field.bytes = {at.p, at.p + n};
      at.p += n;
      break;
    }
    default:
      return false;
  }
  cursor = at;
  return true;
}

}  // namespace profd::protobuf
