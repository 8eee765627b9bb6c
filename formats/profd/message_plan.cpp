#include "formats/profd/message_plan.h"

#include <bit>
#include <cassert>
#include <cstring>

#include "core/support/text.h"
#include "formats/profd/schema.h"

namespace profd::profd_format {
namespace {

std::size_t varint_size(std::uint64_t value) {
  std::size_t n = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++n;
  }
  return n;
}

std::string padded_varint(std::uint64_t value, unsigned width) {
  std::string out(width, '\0');
  for (unsigned i = 0; i < width; ++i) {
    out[i] = static_cast<char>((value & 0x7F) | (i + 1 < width ? 0x80 : 0));
    value >>= 7;
  }
  assert(value == 0);
  return out;
}

}  // namespace

void MessagePlan::raw(const void* data, std::size_t n) {
  head().append(static_cast<const char*>(data), n);
  position_ += n;
}

void MessagePlan::put_varint(std::uint64_t value) {
  char buffer[10];
  std::size_t n = 0;
  while (value >= 0x80) {
    buffer[n++] = static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7;
  }
  buffer[n++] = static_cast<char>(value);
  raw(buffer, n);
}

void MessagePlan::put_padded(std::uint64_t value) {
  const std::string text = padded_varint(value, length_width_);
  raw(text.data(), text.size());
}

void MessagePlan::begin(std::uint32_t field) {
  tag(field, 2);
  head();
  open_.push_back({pieces_.size() - 1, pieces_.back().head.size(), position_ + length_width_});
  put_padded(0);
}

void MessagePlan::end() {
  const Open message = open_.back();
  open_.pop_back();
  pieces_[message.piece].head.replace(message.at, length_width_,
                                      padded_varint(position_ - message.start, length_width_));
}

void MessagePlan::varint(std::uint32_t field, std::uint64_t value) {
  tag(field, 0);
  put_varint(value);
}

void MessagePlan::zigzag(std::uint32_t field, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(field, (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void MessagePlan::fixed32(std::uint32_t field, std::uint32_t value) {
  tag(field, 5);
  raw(&value, sizeof value);
}

void MessagePlan::fixed64(std::uint32_t field, std::uint64_t value) {
  tag(field, 1);
  raw(&value, sizeof value);
}

void MessagePlan::real(std::uint32_t field, double value) {
  fixed64(field, std::bit_cast<std::uint64_t>(value));
}

void MessagePlan::bytes(std::uint32_t field, std::span<const std::byte> value) {
  tag(field, 2);
  put_varint(value.size());
  raw(value.data(), value.size());
}

void MessagePlan::text(std::uint32_t field, std::string_view value) {
  if (is_valid_utf8(value)) return bytes(field, std::as_bytes(std::span(value)));
  const std::string repaired = repair_utf8(value);
  bytes(field, std::as_bytes(std::span(repaired)));
}

void MessagePlan::borrow(std::uint32_t field, std::span<const std::byte> body) {
  if (body.empty()) return;
  const std::size_t header = varint_size(std::uint64_t{field} << 3) + length_width_;
  if ((position_ + header) % 8 != 0) {
    const std::size_t zeros = (16 - (position_ + 2 + header) % 8) % 8;
    const std::string padding(zeros, '\0');
    bytes(kPadding, std::as_bytes(std::span(padding)));
  }
  tag(field, 2);
  put_padded(body.size());
  assert(position_ % 8 == 0);
  pieces_.back().body = body;
  position_ += body.size();
}

Result<void> MessagePlan::write(const std::function<Result<void>(std::span<const std::byte>)>& sink) const {
  assert(open_.empty());
  for (const Piece& piece : pieces_) {
    if (!piece.head.empty()) PROFD_CHECK(sink(std::as_bytes(std::span(piece.head))));
    if (!piece.body.empty()) PROFD_CHECK(sink(piece.body));
  }
  return {};
}

}  // namespace profd::profd_format
