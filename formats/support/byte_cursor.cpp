#include "formats/support/byte_cursor.h"

#include <fmt/format.h>

namespace profd {

std::uint64_t ByteCursor::varint() {
  std::uint64_t value = 0;
  std::size_t at = at_;
  for (unsigned shift = 0; ok_; shift += 7) {
    if (at == bytes_.size()) break;
    const auto byte = std::to_integer<std::uint8_t>(bytes_[at++]);
    if (shift == 63 && byte > 1) {
      ill_formed_ = true;
      break;
    }
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      at_ = at;
      return value;
    }
  }
  ok_ = false;
  return 0;
}

std::span<const std::byte> ByteCursor::bytes(std::uint64_t n) {
  if (!ok_ || n > left()) {
    ok_ = false;
    return {};
  }
  const auto out = bytes_.subspan(at_, static_cast<std::size_t>(n));
  at_ += static_cast<std::size_t>(n);
  return out;
}

std::string_view ByteCursor::text(std::uint64_t n) {
  const auto out = bytes(n);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

std::string_view ByteCursor::text_to_nul() {
  if (!ok_) return {};
  const auto* const begin = reinterpret_cast<const char*>(bytes_.data() + at_);
  const auto* const end = left() == 0 ? nullptr : static_cast<const char*>(std::memchr(begin, 0, left()));
  if (!end) {
    ok_ = false;
    return {};
  }
  const auto n = static_cast<std::size_t>(end - begin);
  at_ += n + 1;
  return {begin, n};
}

ByteCursor ByteCursor::slice(std::uint64_t n) {
  ByteCursor out = *this;
  out.base_ = offset();
  out.at_ = 0;
  out.bytes_ = bytes(n);
  out.ok_ = ok_;
  return out;
}

void ByteCursor::seek(std::uint64_t at) {
  if (at > bytes_.size())
    ok_ = false;
  else if (ok_)
    at_ = static_cast<std::size_t>(at);
}

Result<void> ByteCursor::status(std::string_view what) const {
  if (ok_) return {};
  if (ill_formed_)
    return fail(ErrorCode::malformed, fmt::format("{} has a number of more than 64 bits", what), offset());
  return fail(ErrorCode::truncated, fmt::format("{} ends early", what), offset());
}

}  // namespace profd
