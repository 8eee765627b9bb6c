#include "formats/profd/field_cursor.h"

#include <cstring>

#include <fmt/format.h>

namespace profd::profd_format {

Result<std::uint64_t> FieldCursor::varint(const char* what) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    if (i >= rest_.size())
      return fail(ErrorCode::truncated, fmt::format("the file ends inside {}", what), offset_ + i);
    const auto byte = std::to_integer<std::uint64_t>(rest_[i]);
    if (i == 9 && byte > 1) break;
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      skip(i + 1);
      return value;
    }
  }
  return fail(ErrorCode::malformed, fmt::format("{} does not fit 64 bits", what), offset_);
}

Result<Field> FieldCursor::next() {
  Field field;
  field.tag_offset = offset_;
  PROFD_TRY(const std::uint64_t tag, varint("a field tag"));
  const std::uint64_t number = tag >> 3;
  const auto type = static_cast<std::uint8_t>(tag & 7);
  if (number == 0 || number > 0x1FFFFFFF)
    return fail(ErrorCode::malformed, fmt::format("there is no field number {}", number), field.tag_offset);
  field.number = static_cast<std::uint32_t>(number);
  std::size_t length = 0;
  switch (type) {
    case 0: {
      field.offset = offset_;
      PROFD_TRY(field.value, varint("a number"));
      return field;
    }
    case 1:
      length = 8;
      break;
    case 5:
      length = 4;
      break;
    case 2: {
      PROFD_TRY(const std::uint64_t n, varint("a length"));
      if (n > rest_.size())
        return fail(ErrorCode::truncated,
                    fmt::format("field {} says it has {} bytes, {} are left", number, n, rest_.size()),
                    field.tag_offset);
      length = static_cast<std::size_t>(n);
      break;
    }
    default:
      return fail(ErrorCode::malformed, fmt::format("field {} has wire type {}", number, type),
                  field.tag_offset);
  }
  if (length > rest_.size())
    return fail(ErrorCode::truncated, fmt::format("the file ends inside field {}", number), offset_);
  field.type = static_cast<WireType>(type);
  field.offset = offset_;
  field.payload = rest_.first(length);
  if (type != 2) std::memcpy(&field.value, field.payload.data(), length);
  skip(length);
  return field;
}

Result<void> expect(const Field& field, WireType type) {
  if (field.type == type) return {};
  return fail(ErrorCode::malformed,
              fmt::format("field {} has wire type {} instead of {}", field.number,
                          static_cast<int>(field.type), static_cast<int>(type)),
              field.tag_offset);
}

}  // namespace profd::profd_format
