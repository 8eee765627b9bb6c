// A protocol buffers message under construction: what is written of one, without a library. Readers of what
// comes out of it are protobuf_wire.h and every other implementation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profd::protobuf {

class Message {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    raw(std::uint64_t{field} << 3);
    raw(value);
  }
  void integer(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }
  // Also when it is 0, as a member of a oneof must be.
  void present(std::uint32_t field, std::uint64_t value) {
    raw(std::uint64_t{field} << 3);
    raw(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    raw(std::uint64_t{field} << 3 | 1);
    raw_fixed64(value);
  }
  // Of a field with a length, which comes next.
  void tag(std::uint32_t field) { raw(std::uint64_t{field} << 3 | 2); }
  void text(std::uint32_t field, std::string_view value) {
    tag(field);
    raw(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }
  template <class Range>
  void packed(std::uint32_t field, const Range& values) {
    if (values.empty()) return;
    Message inner;
    for (const auto value : values) inner.raw(static_cast<std::uint64_t>(value));
    message(field, inner);
  }
  void packed_fixed64(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    if (values.empty()) return;
    tag(field);
    raw(values.size() * 8);
    for (const std::uint64_t value : values) raw_fixed64(value);
  }
  void raw(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void raw_fixed64(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace profd::protobuf
