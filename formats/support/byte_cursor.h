// ByteCursor: bounded reads of binary data, little or big endian.
//
// Errors stick, as in JsonCursor: the first read past the end makes ok() false, after which every read gives
// zero or nothing and offset() stays where the read that failed began. So a record is read in one go and
// checked once: `if (!in.ok()) return in.status("the header");`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/support/result.h"

namespace profd {

class ByteCursor {
 public:
  ByteCursor() = default;
  // `base`: offset of the first byte in the file, for errors.
  explicit ByteCursor(std::span<const std::byte> bytes, std::endian order = std::endian::little,
                      std::uint64_t base = 0)
      : bytes_(bytes), base_(base), swap_(order != std::endian::native) {}

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::int8_t i8() { return static_cast<std::int8_t>(u8()); }
  std::int16_t i16() { return static_cast<std::int16_t>(u16()); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  float f32() { return std::bit_cast<float>(u32()); }
  double f64() { return std::bit_cast<double>(u64()); }
  // LEB128, at most ten bytes and 64 bits; more is an error.
  std::uint64_t varint();

  // The next n bytes; empty when there are fewer.
  std::span<const std::byte> bytes(std::uint64_t n);
  std::string_view text(std::uint64_t n);
  // Up to a NUL, which is stepped over; an error when none follows.
  std::string_view text_to_nul();
  // The next n bytes as a cursor of their own, with offsets of the same file.
  ByteCursor slice(std::uint64_t n);

  void skip(std::uint64_t n) { static_cast<void>(bytes(n)); }
  void align(std::size_t to) { skip((to - at_ % to) % to); }
  // `at` counts from the first byte of this cursor; past the end is an error.
  void seek(std::uint64_t at);

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }  // from the first byte of this cursor
  std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t offset() const { return base_ + at_; }  // in the file
  std::span<const std::byte> rest() const { return bytes_.subspan(at_); }
  bool swapped() const { return swap_; }

  // ErrorCode::truncated at offset(), "<what> ends early", or `malformed` when a number was ill-formed.
  Result<void> status(std::string_view what) const;

 private:
  template <class T>
  T number() {
    if (!ok_ || left() < sizeof(T)) {
      ok_ = false;
      return 0;
    }
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return swap_ ? swapped_value(value) : value;
  }
  static std::uint8_t swapped_value(std::uint8_t v) { return v; }
  static std::uint16_t swapped_value(std::uint16_t v) { return __builtin_bswap16(v); }
  static std::uint32_t swapped_value(std::uint32_t v) { return __builtin_bswap32(v); }
  static std::uint64_t swapped_value(std::uint64_t v) { return __builtin_bswap64(v); }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t base_ = 0;
  bool swap_ = false;
  bool ok_ = true;
  bool ill_formed_ = false;  // a varint too long, rather than an end too early
};

}  // namespace profd
