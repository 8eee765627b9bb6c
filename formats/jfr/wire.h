// Wire: bounded reads of the encodings inside a JFR chunk. Errors stick: after the first read past the end
// everything reads as zero and ok() is false.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd::jfr {

// A string as it lies in the file: decoded only when somebody wants to see it.
struct Text {
  enum class Code : std::uint8_t { null, empty, pooled, utf8, utf16, latin1 };
  Code code = Code::null;
  std::uint64_t key = 0;             // of the java.lang.String pool, when pooled
  std::span<const std::byte> bytes;  // utf16: one compressed integer a unit
};

class Wire {
 public:
  Wire() = default;
  // `base`: offset of the first byte in the file.
  Wire(std::span<const std::byte> bytes, std::uint64_t base)
      : begin_(bytes.data()), p_(bytes.data()), end_(bytes.data() + bytes.size()), base_(base) {}

  // Seven bits a byte, least significant first; a ninth byte carries eight bits. Negative numbers are two's
  // complement of the width of their field.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
      if (p_ == end_) return stop();
      const auto byte = std::to_integer<std::uint64_t>(*p_++);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    if (p_ == end_) return stop();
    return value | (std::to_integer<std::uint64_t>(*p_++) << 56);
  }
  std::uint8_t byte() {
    if (p_ == end_) return static_cast<std::uint8_t>(stop());
    return std::to_integer<std::uint8_t>(*p_++);
  }
  double f32();
  double f64();
  Text text();
  void skip(std::uint64_t n) {
    if (n > left())
      stop();
    else
      p_ += n;
  }
  std::span<const std::byte> bytes(std::uint64_t n);

  bool ok() const { return ok_; }
  void fail() { stop(); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  std::size_t position() const { return static_cast<std::size_t>(p_ - begin_); }
  std::uint64_t offset() const { return base_ + position(); }

 private:
  std::uint64_t stop() {
    ok_ = false;
    end_ = p_;
    return 0;
  }

  const std::byte* begin_ = nullptr;
  const std::byte* p_ = nullptr;
  const std::byte* end_ = nullptr;
  std::uint64_t base_ = 0;
  bool ok_ = true;
};

// Appends the text as UTF-8 (what was written as UTF-8 is appended as it is). Nothing for pooled ones.
void append_text(const Text& text, std::string& out);

}  // namespace profd::jfr
