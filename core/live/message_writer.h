// Writes messages of the live stream, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/live/stream_constants.h"
#include "core/live/varint.h"

namespace profd::live {

class MessageWriter {
 public:
  MessageWriter& number(std::uint64_t value) {
    append_varint(payload_, value);
    return *this;
  }
  // Longer than a text may be, it is cut.
  MessageWriter& text(std::string_view value) {
    value = value.substr(0, kMaxStringBytes);
    append_varint(payload_, value.size());
    payload_ += value;
    return *this;
  }
  MessageWriter& raw(std::string_view value) {
    payload_ += value;
    return *this;
  }
  // Appends the whole frame to `out`; the payload is then empty again.
  void to(std::string& out, MessageType type) {
    out += static_cast<char>(type);
    append_varint(out, payload_.size());
    out += payload_;
    payload_.clear();
  }

 private:
  std::string payload_;
};

}  // namespace profd::live
