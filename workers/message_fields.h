// What the readers and writers of messages between processes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/protobuf_message.h"
#include "core/support/protobuf_wire.h"
#include "core/support/result.h"

namespace profd::worker {

using protobuf::Cursor;
using protobuf::Field;
using protobuf::Message;
using protobuf::Wire;

using Numbers = std::vector<std::uint32_t>;
using Addresses64 = std::vector<std::uint64_t>;

inline tl::unexpected<Error> bad(const char* what) {
  return fail(ErrorCode::malformed, std::string("a message of a worker: ") + what);
}

inline void put(Message& to, std::uint32_t field, const std::string& text) {
  if (!text.empty()) to.text(field, text);
}

inline std::string text_of(const Field& field) {
  return field.wire == Wire::length
             ? std::string(reinterpret_cast<const char*>(field.bytes.p), field.bytes.left())
             : std::string();
}

inline bool take(const Field& field, Numbers& to) {
  if (field.wire != Wire::length) return false;
  Cursor at = field.bytes;
  while (!at.done()) {
    std::uint64_t value = 0;
    if (!protobuf::read_varint(at, value) || value > ~std::uint32_t{0}) return false;
    to.push_back(static_cast<std::uint32_t>(value));
  }
  return true;
}

inline bool take(const Field& field, Addresses64& to) {
  if (field.wire != Wire::length || field.bytes.left() % 8 != 0) return false;
  const std::size_t n = field.bytes.left() / 8;
  to.reserve(to.size() + n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t value = 0;
    for (unsigned byte = 0; byte < 8; ++byte)
      value |= std::uint64_t{field.bytes.p[8 * i + byte]} << (8 * byte);
    to.push_back(value);
  }
  return true;
}

// Calls `take_field` for every field; false where the bytes are none, or it says so.
template <class Take>
bool each_field(Cursor at, const Take& take_field) {
  Field field;
  while (!at.done())
    if (!protobuf::read_field(at, field) || !take_field(field)) return false;
  return true;
}

inline Cursor cursor_of(std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

}  // namespace profd::worker
