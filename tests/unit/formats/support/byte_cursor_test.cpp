#include "formats/support/byte_cursor.h"

#include <string>

#include "tests/support/catch.h"

using namespace profd;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("numbers are read in either byte order") {
  const std::string data("\x01\x02\x03\x04\x05\x06\x07\x08", 8);
  ByteCursor little(bytes_of(data));
  CHECK(little.u16() == 0x0201);
  CHECK(little.u32() == 0x06050403);
  ByteCursor big(bytes_of(data), std::endian::big);
  CHECK(big.u8() == 1);
  CHECK(big.u16() == 0x0203);
  CHECK(big.left() == 5);
  CHECK(ByteCursor(bytes_of(data), std::endian::big).u64() == 0x0102030405060708);
  CHECK(ByteCursor(bytes_of(std::string("\xFF\xFF", 2))).i16() == -1);
}

TEST_CASE("a read past the end sticks and names its place") {
  const std::string data = "abcdef";
  ByteCursor in(bytes_of(data), std::endian::little, 100);
  in.skip(4);
  CHECK(in.u32() == 0);
  CHECK_FALSE(in.ok());
  CHECK(in.u8() == 0);
  CHECK(in.text(1).empty());
  const auto status = in.status("the header");
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::truncated);
  CHECK(status.error().offset == 104u);
  CHECK(status.error().message == "the header ends early");
}

TEST_CASE("varints of 64 bits are read, longer ones are malformed") {
  const std::string most("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10);
  CHECK(ByteCursor(bytes_of(most)).varint() == ~std::uint64_t{0});
  const std::string long_one("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10);
  ByteCursor in(bytes_of(long_one));
  CHECK(in.varint() == 0);
  CHECK(in.status("a count").error().code == ErrorCode::malformed);
  const std::string open_end("\x80\x80", 2);
  ByteCursor cut(bytes_of(open_end));
  cut.varint();
  CHECK(cut.status("a count").error().code == ErrorCode::truncated);
}

TEST_CASE("texts, slices and places") {
  const std::string data("ab\0cd\0e", 7);
  ByteCursor in(bytes_of(data), std::endian::little, 10);
  CHECK(in.text_to_nul() == "ab");
  ByteCursor part = in.slice(3);
  CHECK(part.offset() == 13);
  CHECK(part.text_to_nul() == "cd");
  CHECK(part.at_end());
  CHECK(in.position() == 6);
  CHECK(in.text_to_nul().empty());
  CHECK_FALSE(in.ok());
  ByteCursor again(bytes_of(data));
  again.seek(7);
  CHECK(again.ok());
  again.seek(8);
  CHECK_FALSE(again.ok());
  ByteCursor huge(bytes_of(data));
  CHECK(huge.bytes(~std::uint64_t{0}).empty());
  CHECK_FALSE(huge.ok());
}
