// FieldCursor: walks the fields of one protobuf message, bounds-checked, without copying.
// Written by hand since a column may be longer than the 32-bit lengths of protozero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/support/result.h"

namespace profd::profd_format {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;             // varint, fixed32, fixed64
  std::span<const std::byte> payload;  // the bytes of a length-delimited or fixed field
  std::uint64_t tag_offset = 0;        // in the file
  std::uint64_t offset = 0;            // of the payload or value, in the file

  std::string_view text() const { return {reinterpret_cast<const char*>(payload.data()), payload.size()}; }
};

class FieldCursor {
 public:
  // `offset`: where `message` starts in the file, for errors.
  FieldCursor(std::span<const std::byte> message, std::uint64_t offset) : rest_(message), offset_(offset) {}
  explicit FieldCursor(const Field& field) : FieldCursor(field.payload, field.offset) {}

  bool at_end() const { return rest_.empty(); }
  // Call only when not at the end. Groups and field number 0 are malformed.
  Result<Field> next();

 private:
  Result<std::uint64_t> varint(const char* what);
  void skip(std::size_t n) {
    rest_ = rest_.subspan(n);
    offset_ += n;
  }

  std::span<const std::byte> rest_;
  std::uint64_t offset_;
};

// The field must have this wire type; a known field of another type is not skipped but refused.
Result<void> expect(const Field& field, WireType type);

}  // namespace profd::profd_format
