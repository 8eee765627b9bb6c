// Bytes of a file that nobody vouches for, and a cursor over them that never leaves them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace profd::native {

// Owned by whoever mapped or expanded them; everything that is made of an image points into them.
using Bytes = std::span<const std::uint8_t>;

// The bytes from `at` on, at most `size` of them; empty where `at` lies behind the end.
inline Bytes slice(Bytes bytes, std::uint64_t at, std::uint64_t size = UINT64_MAX) {
  if (at >= bytes.size()) return {};
  const std::uint64_t left = bytes.size() - at;
  return bytes.subspan(at, size < left ? size : left);
}

inline bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// Reads forward. What would pass the end reads as zero and leaves the cursor at the end and failed() true for
// good, so that a loop asks once a round.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(Bytes bytes, bool big_endian, std::uint64_t at = 0)
      : begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        swap_(big_endian != kBig) {
    skip(at);
  }

  std::uint64_t at() const { return static_cast<std::uint64_t>(at_ - begin_); }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }
  bool failed() const { return failed_; }
  bool more() const { return at_ != end_; }
  void seek(std::uint64_t at) {
    at_ = begin_;
    skip(at);
  }

  void skip(std::uint64_t n) {
    if (n > left()) return fail();
    at_ += n;
  }

  std::uint8_t u8() {
    if (at_ == end_) {
      fail();
      return 0;
    }
    return *at_++;
  }
  std::uint16_t u16() { return fixed<std::uint16_t>(); }
  std::uint32_t u32() { return fixed<std::uint32_t>(); }
  std::uint64_t u64() { return fixed<std::uint64_t>(); }
  std::uint32_t u24() {
    const std::uint32_t a = u8(), b = u8(), c = u8();
    return swap_ == kBig ? a | b << 8 | c << 16 : a << 16 | b << 8 | c;
  }
  // `size`: 1, 2, 4 or 8.
  std::uint64_t number(unsigned size) {
    switch (size) {
      case 1:
        return u8();
      case 2:
        return u16();
      case 4:
        return u32();
      case 8:
        return u64();
      default:
        fail();
        return 0;
    }
  }

  std::uint64_t uleb() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
      const std::uint8_t byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_;) {
      const std::uint8_t byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    fail();
    return 0;
  }
  void skip_leb() {
    while (at_ != end_)
      if (*at_++ < 0x80) return;
    fail();
  }

  // Up to the next NUL, which is passed.
  std::string_view text() {
    const void* nul = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (nul == nullptr) {
      fail();
      return {};
    }
    const auto* stop = static_cast<const std::uint8_t*>(nul);
    const std::string_view found(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(stop - at_));
    at_ = stop + 1;
    return found;
  }
  Bytes bytes(std::uint64_t n) {
    if (n > left()) {
      fail();
      return {};
    }
    at_ += n;
    return {at_ - n, static_cast<std::size_t>(n)};
  }

 private:
  static constexpr bool kBig = std::endian::native == std::endian::big;

  template <class T>
  T fixed() {
    T value{};
    if (left() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    if (swap_) {
      if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
      if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
      if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    }
    return value;
  }
  void fail() {
    at_ = end_;
    failed_ = true;
  }

  const std::uint8_t* begin_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool swap_ = false;
  bool failed_ = false;
};

}  // namespace profd::native
