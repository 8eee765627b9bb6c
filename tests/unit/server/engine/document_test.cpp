#include "server/engine/document.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

std::optional<std::pair<TextPosition, TextPosition>> range(std::uint32_t l1, std::uint32_t c1,
                                                           std::uint32_t l2, std::uint32_t c2) {
  return {{{l1, c1}, {l2, c2}}};
}

}  // namespace

TEST_CASE("positions count bytes, UTF-16 units or code points") {
  const std::string line = "a\u00e9\U0001F600b";
  CHECK(encoded_length(line, PositionEncoding::utf8) == 8);
  CHECK(encoded_length(line, PositionEncoding::utf16) == 5);
  CHECK(encoded_length(line, PositionEncoding::utf32) == 4);
  CHECK(byte_offset(line, 4, PositionEncoding::utf16) == 7);
  CHECK(byte_offset(line, 3, PositionEncoding::utf32) == 7);
  CHECK(byte_offset(line, 99, PositionEncoding::utf16) == 8);
}

TEST_CASE("incremental changes keep the text and move the lines") {
  Document document("one\ntwo\nthree\n", 1);
  REQUIRE(document.change(range(1, 0, 1, 0), "new\n", PositionEncoding::utf16, 2));
  CHECK(document.text() == "one\nnew\ntwo\nthree\n");
  CHECK(document.line_map("p1").origin(2) == 1);
  CHECK_FALSE(document.line_map("p1").stale(2));
  REQUIRE(document.change(range(2, 3, 2, 3), "!", PositionEncoding::utf16, 3));
  CHECK(document.line_map("p1").stale(2));
  CHECK(document.line_map("p1").origin(2) == 1);
}

TEST_CASE("deleting across lines joins them") {
  Document document("one\ntwo\nthree\nfour", 1);
  REQUIRE(document.change(range(0, 3, 2, 0), "", PositionEncoding::utf8, 2));
  CHECK(document.text() == "onethree\nfour");
  CHECK(document.n_lines() == 2);
  CHECK(document.line_map("p1").origin(1) == 3);
}

TEST_CASE("line breaks of every kind are lines") {
  Document document("a\r\nb\rc\nd", 1);
  REQUIRE(document.n_lines() == 4);
  CHECK(document.line(0) == "a");
  CHECK(document.line(1) == "b");
  CHECK(document.line(2) == "c");
}

TEST_CASE("a profile read after a save takes the saved text as measured") {
  Document document("a\nb\n", 1);
  REQUIRE(document.change(range(0, 0, 0, 0), "new\n", PositionEncoding::utf8, 2));
  document.saved();
  document.profile_loaded("p2");
  CHECK(document.line_map("p2").origin(0) == 0);
  CHECK(document.line_map("p1").origin(0) == kNone);
}

TEST_CASE("positions past the end are clamped, also reversed ones") {
  Document document("ab", 1);
  REQUIRE(document.change(range(9, 9, 3, 0), "!", PositionEncoding::utf16, 2));
  CHECK(document.text() == "ab!");
}
