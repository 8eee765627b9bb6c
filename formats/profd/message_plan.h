// MessagePlan: a protobuf message laid out but not yet copied: small fields as bytes of its own, columns as
// pointers to the caller's memory. Every length is known before the first byte is written, and columns start
// at multiples of 8 bytes from the start of the file.
//
// Lengths of sub-messages and columns are written as varints of fixed width (padded with continuation bytes,
// which every parser accepts), so that positions do not depend on sizes that come later.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/column.h"
#include "core/support/result.h"

namespace profd::profd_format {

class MessagePlan {
 public:
  // `length_width`: bytes of a padded length; 5 holds up to 2^35 - 1 (and is all that other parsers read).
  explicit MessagePlan(unsigned length_width = 5) : length_width_(length_width) {}

  void begin(std::uint32_t field);
  void end();

  void varint(std::uint32_t field, std::uint64_t value);
  void zigzag(std::uint32_t field, std::int64_t value);
  void fixed32(std::uint32_t field, std::uint32_t value);
  void fixed64(std::uint32_t field, std::uint64_t value);
  void real(std::uint32_t field, double value);
  // Repairs what is not UTF-8.
  void text(std::uint32_t field, std::string_view value);
  void bytes(std::uint32_t field, std::span<const std::byte> value);
  // Packed; nothing is written for an empty column. The memory must live until write().
  template <class T>
  void column(std::uint32_t field, const Column<T>& values) {
    borrow(field, std::as_bytes(values.span()));
  }

  std::uint64_t size() const { return position_; }
  // Calls sink with the bytes in order, in pieces.
  Result<void> write(const std::function<Result<void>(std::span<const std::byte>)>& sink) const;

 private:
  struct Piece {
    std::string head;
    std::span<const std::byte> body;
  };
  struct Open {
    std::size_t piece, at;  // where the padded length stands
    std::uint64_t start;    // position of the first byte of the message
  };

  std::string& head() {
    if (pieces_.empty() || !pieces_.back().body.empty()) pieces_.emplace_back();
    return pieces_.back().head;
  }
  void put_varint(std::uint64_t value);
  void put_padded(std::uint64_t value);
  void tag(std::uint32_t field, unsigned wire_type) { put_varint((std::uint64_t{field} << 3) | wire_type); }
  void raw(const void* data, std::size_t n);
  void borrow(std::uint32_t field, std::span<const std::byte> body);

  unsigned length_width_;
  std::uint64_t position_ = 0;
  std::vector<Piece> pieces_;
  std::vector<Open> open_;
};

}  // namespace profd::profd_format
