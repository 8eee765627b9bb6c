// Buffered output of writers: text, JSON text, protocol buffers. Errors stick, as in the readers' cursors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.h"
#include "core/support/stop.h"
#include "formats/byte_sink.h"

namespace profd::writers {

class Output {
 public:
  Output(const ByteSink& sink, StopToken stop) : sink_(sink), stop_(std::move(stop)) {}

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBlock) flush();
  }
  void put(char c) { buffer_ += c; }
  void number(std::int64_t value);
  void number(std::uint64_t value);
  // The shortest decimal that reads back as the same double, without an exponent.
  void number(double value);
  void number(const Value& value) {
    std::visit([this](auto v) { number(v); }, value);
  }
  // Quoted and escaped; nothing in it ends a <script> element.
  void json(std::string_view text);
  // ,"key": with the comma unless `first`.
  void key(std::string_view key, bool first = false);

  // Writes what is left; the first error of the sink, or that the work was stopped.
  Result<void> finish() {
    flush();
    return status_;
  }
  bool failed() const { return !status_; }
  const Result<void>& status() const { return status_; }

 private:
  static constexpr std::size_t kBlock = 1u << 18;
  void flush();

  const ByteSink& sink_;
  StopToken stop_;
  std::string buffer_;
  Result<void> status_;
};

// A protocol buffers message under construction.
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

}  // namespace profd::writers
