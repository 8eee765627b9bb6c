#include "server/engine/document.h"

#include <algorithm>
#include <ctime>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/slow_build.h"

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
  CHECK(document.text().text() == "one\nnew\ntwo\nthree\n");
  CHECK(document.line_map({1}).origin(2) == 1);
  CHECK_FALSE(document.line_map({1}).stale(2));
  REQUIRE(document.change(range(2, 3, 2, 3), "!", PositionEncoding::utf16, 3));
  CHECK(document.line_map({1}).stale(2));
  CHECK(document.line_map({1}).origin(2) == 1);
}

TEST_CASE("deleting across lines joins them") {
  Document document("one\ntwo\nthree\nfour", 1);
  REQUIRE(document.change(range(0, 3, 2, 0), "", PositionEncoding::utf8, 2));
  CHECK(document.text().text() == "onethree\nfour");
  CHECK(document.n_lines() == 2);
  CHECK(document.line_map({1}).origin(1) == 3);
}

TEST_CASE("line breaks of every kind are lines") {
  Document document("a\r\nb\rc\nd", 1);
  REQUIRE(document.n_lines() == 4);
  CHECK(document.text().line(0) == "a");
  CHECK(document.text().line(1) == "b");
  CHECK(document.text().line(2) == "c");
}

TEST_CASE("a profile read after a save takes the saved text as measured") {
  Document document("a\nb\n", 1);
  REQUIRE(document.change(range(0, 0, 0, 0), "new\n", PositionEncoding::utf8, 2));
  REQUIRE(document.saved(1, {1}));
  CHECK(document.line_map({2}).origin(0) == 0);
  CHECK(document.line_map({1}).origin(0) == kNone);
}

namespace {

FileOnDisk on_disk(const std::string& text, std::int64_t written_s) {
  const std::int64_t ns = written_s * 1'000'000'000;
  return {{ns, text.size(), 1}, text};
}
Recording recorded(std::uint64_t view_id, std::int64_t time_s) {
  return {view_id, time_s * 1'000'000'000};
}

}  // namespace

TEST_CASE("what others write into the file is what profiles measured that are read after it") {
  Document document("a\nb\n", 1, on_disk("a\nb\n", 100), 1);
  SECTION("the editor has it, too") {
    REQUIRE(document.change(range(0, 0, 0, 0), "1\n2\n3\n", PositionEncoding::utf8, 2));
    REQUIRE(document.looked_at(on_disk("1\n2\n3\na\nb\n", 200), 2, {1, 2}));
    CHECK(document.line_map(recorded(2, 210)).origin(3) == 3);
    CHECK_FALSE(document.line_map(recorded(2, 210)).stale(0));
    CHECK(document.line_map(recorded(1, 150)).origin(3) == 0);
  }
  SECTION("the editor hears of it later") {
    REQUIRE(document.looked_at(on_disk("1\n2\n3\na\nb\n", 200), 2, {1, 2}));
    CHECK(document.line_map(recorded(2, 210)).origin(0) == 3);
    REQUIRE(document.change(range(0, 0, 0, 0), "1\n2\n3\n", PositionEncoding::utf8, 2));
    CHECK(document.line_map(recorded(2, 210)).unchanged());
    CHECK(document.line_map(recorded(2, 210)).origin(0) == 0);
    CHECK(document.line_map(recorded(1, 150)).origin(3) == 0);
  }
  SECTION("the editor keeps what was typed") {
    REQUIRE(document.change(range(0, 0, 1, 0), "typed\n!a\n", PositionEncoding::utf8, 2));
    REQUIRE(document.looked_at(on_disk("1\n2\n3\na\nb\n", 200), 2, {1, 2}));
    const LineMap now = document.line_map(recorded(2, 210));
    CHECK(now.origin(2) == 4);
    CHECK_FALSE(now.stale(2));
    CHECK(now.stale(1));
    CHECK(document.line_map(recorded(1, 150)).origin(2) == 1);
  }
}

TEST_CASE(
    "of profiles that were read since the file was last looked at, their time says what they measured") {
  Document document("a\n", 1, on_disk("a\n", 100), 1);
  REQUIRE(document.looked_at(on_disk("new\na\n", 200), 3, {1, 2, 3}));
  CHECK(document.line_map(recorded(1, 250)).origin(0) == 0);  // it was here before
  CHECK(document.line_map(recorded(2, 150)).origin(0) == 0);
  CHECK(document.line_map(recorded(3, 250)).origin(0) == 1);
  CHECK(document.line_map(recorded(4, 150)).origin(0) ==
        1);  // read after; that it is too old is seen elsewhere
  CHECK(document.written_ns(recorded(4, 150)) == on_disk("", 200).stamp.mtime_ns);
}

TEST_CASE("a file that was touched, and a text that is not that of its file") {
  Document document("typed\na\n", 1, on_disk("a\n", 100), 1);
  CHECK(document.line_map(recorded(1, 150)).origin(1) == 0);
  REQUIRE(document.looked_at(on_disk("a\n", 200), 1, {1}));
  CHECK(document.written_ns(recorded(1, 150)) == on_disk("", 100).stamp.mtime_ns);
  CHECK(document.line_map(recorded(2, 250)).origin(1) == 0);
}

TEST_CASE("positions past the end are clamped, also reversed ones") {
  Document document("ab", 1);
  REQUIRE(document.change(range(9, 9, 3, 0), "!", PositionEncoding::utf16, 2));
  CHECK(document.text().text() == "ab!");
}

TEST_CASE("an earlier text is told apart as long as a profile is open that was measured with it") {
  Document document("a\n", 1);
  const auto add_line = [&](std::uint64_t n) {
    REQUIRE(document.change(range(0, 0, 0, 0), std::to_string(n) + "\n", PositionEncoding::utf8, 2));
  };
  for (std::uint64_t view = 1; view <= 10; ++view) {
    add_line(view);
    REQUIRE(document.saved(view, {2, 8, view}));
  }
  CHECK(document.line_map({1}).origin(10) == 0);
  CHECK(document.line_map({2}).origin(9) == 0);
  CHECK(document.line_map({8}).origin(3) == 0);
  CHECK(document.line_map({11}).origin(0) == 0);
  const std::size_t before = document.memory();
  for (std::uint64_t view = 11; view <= 1000; ++view) REQUIRE(document.saved(view, {2, 8, view}));
  CHECK(document.memory() < 3 * before);
}

namespace {

// Each change applied to the whole text, as a client does it.
struct Plain {
  std::string text;
  std::size_t offset(std::uint32_t line, std::uint32_t character) const {
    std::size_t at = 0;
    for (; line > 0; --line) at = text.find('\n', at) + 1;
    return std::min(at + character, std::min(text.find('\n', at), text.size()));
  }
};

}  // namespace

TEST_CASE("a text in pieces is the text, its lines and offsets are, after any edits") {
  std::mt19937 random(7);
  const auto upto = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % (n + 1)); };
  std::string start;
  for (int i = 0; i < 6000; ++i) start += std::string(upto(40), static_cast<char>('a' + i % 26)) + "\n";
  start += std::string(200'000, 'L');
  Plain plain{start};
  Document document(start, 1);
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t first = upto(document.n_lines() - 1), n = i % 10 == 0 ? upto(2000) : upto(2);
    const std::uint32_t last =
        std::min<std::uint32_t>(first + n, static_cast<std::uint32_t>(document.n_lines() - 1));
    std::size_t begin = plain.offset(first, 3), end = std::max(begin, plain.offset(last, 5));
    const auto where = range(first, 3, last, 5);
    std::string text(i % 7 == 0 ? upto(90'000) : upto(8), 'x');
    for (char& c : text)
      if (upto(9) == 0) c = '\n';
    REQUIRE(document.change(where, text, PositionEncoding::utf16, i));
    plain.text.replace(begin, end - begin, text);
    REQUIRE(document.text().size() == plain.text.size());
  }
  CHECK(document.text().text() == plain.text);
  CHECK(document.n_lines() ==
        static_cast<std::size_t>(std::count(plain.text.begin(), plain.text.end(), '\n')) + 1);
  CHECK(document.text().hashes(0, document.n_lines()) == LineMap::hash_lines(plain.text));
  for (std::size_t line = 0; line < document.n_lines(); line += 97) {
    const std::size_t at = plain.offset(static_cast<std::uint32_t>(line), 0);
    CHECK(document.text().line(line) ==
          plain.text.substr(at, std::min(plain.text.find('\n', at), plain.text.size()) - at));
    CHECK(document.text().line_at(at) == line);
  }
}

TEST_CASE("characters and line breaks are whole in a text of many pieces") {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "\u00e9\U0001F600\r\n";
  const PieceText pieces(text);
  CHECK(pieces.n_lines() == 30'001);
  CHECK(pieces.text() == text);
  CHECK(pieces.line_length(29'999, PositionEncoding::utf16) == 3);
  CHECK(pieces.offset_of({29'999, 1}, PositionEncoding::utf16) == 29'999 * 8 + 2);
  std::string one_line;
  for (int i = 0; i < 50'000; ++i) one_line += "\U0001F600";
  PieceText line(one_line);
  CHECK(line.line_length(0, PositionEncoding::utf16) == 100'000);
  CHECK(line.line_length(0, PositionEncoding::utf32) == 50'000);
  CHECK(line.offset_of({0, 80'000}, PositionEncoding::utf16) == 160'000);
  line.replace(4, 4, "\n");
  CHECK(line.n_lines() == 2);
  CHECK(line.line(0) == "\U0001F600");
}

TEST_CASE("an edit of a huge document costs what it touches") {
  const auto seconds = [](auto work) {
    const auto begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  SECTION("in a line of 40 MB") {
    Document document(std::string(40 << 20, 'x'), 1);
    const double took = seconds([&] {
      for (std::uint32_t i = 0; i < 300; ++i)
        REQUIRE(
            document.change(range(0, 20'000'000 + i, 0, 20'000'000 + i), "y", PositionEncoding::utf16, 2));
    });
    CHECK(took < 1);  // the whole text every time: 19 s
    CHECK(document.text().size() == (40 << 20) + 300);
  }
  SECTION("with two million lines") {
    Document document(std::string(Document::kMaxLines - 400, '\n'), 1);
    const double took = seconds([&] {
      for (std::uint32_t i = 0; i < 300; ++i)
        REQUIRE(document.change(range(i * 1000, 0, i * 1000, 0), "y\n", PositionEncoding::utf16, 2));
    });
    CHECK(took < profd::test::kSlowBuild);
    CHECK(document.memory() < std::size_t{64} << 20);
    CHECK(document.line_map({1}).origin(1002) == 1000);  // behind two new ones
  }
}

TEST_CASE("a document of more lines than may be is not kept") {
  CHECK_FALSE(Document(std::string(Document::kMaxLines, '\n'), 1).check_size());
  Document document(std::string(Document::kMaxLines - 1, '\n'), 1);
  CHECK(document.check_size());
  const auto done = document.change(range(0, 0, 0, 0), "\n", PositionEncoding::utf8, 2);
  REQUIRE_FALSE(done);
  CHECK(done.error().message == "a document may have 64 MiB and 2,000,000 lines");
}

TEST_CASE("a document that open profiles were measured with in more versions than may be is not kept") {
  Document document("a\n", 1);
  std::vector<std::uint64_t> in_use;
  Result<void> done;
  for (std::uint64_t view = 1; done && view <= 2 * Document::kMaxStates; ++view) {
    in_use.push_back(view);
    REQUIRE(document.change(range(0, 0, 0, 0), "b", PositionEncoding::utf8, 2));
    done = document.saved(view, in_use);
  }
  REQUIRE_FALSE(done);
  CHECK(in_use.size() == Document::kMaxStates);
  CHECK(done.error().message == "open profiles were measured with more than 64 versions of a document");
}
