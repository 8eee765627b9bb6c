#include "protocol/framing.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace profd::protocol;

namespace {

struct Read {
  std::vector<std::string> bodies;
  std::vector<FrameError> errors;
  // Bodies and errors in order: a body as it is, an error as "!".
  std::vector<std::string> order;

  void take(FrameReader& reader) {
    while (auto next = reader.next()) {
      if (auto* body = std::get_if<std::string>(&*next)) {
        bodies.push_back(*body);
        order.push_back(*body);
      } else {
        errors.push_back(std::get<FrameError>(*next));
        order.emplace_back("!");
      }
    }
  }
};

Read read_in_pieces(const std::string& stream, std::size_t piece, FrameLimits limits = {}) {
  FrameReader reader(limits);
  Read read;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.feed(std::string_view(stream).substr(at, piece));
    read.take(reader);
  }
  if (auto cut = reader.finish()) {
    read.errors.push_back(*cut);
    read.order.emplace_back("!");
  }
  return read;
}

// The same outcome however the stream is cut.
Read read_all(const std::string& stream, FrameLimits limits = {}) {
  Read whole = read_in_pieces(stream, stream.size() + 1, limits);
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 64U}) {
    INFO("pieces of " << piece);
    const Read read = read_in_pieces(stream, piece, limits);
    CHECK(read.order == whole.order);
    REQUIRE(read.errors.size() == whole.errors.size());
    for (std::size_t i = 0; i < read.errors.size(); ++i) {
      CHECK(read.errors[i].message == whole.errors[i].message);
      CHECK(read.errors[i].byte == whole.errors[i].byte);
    }
  }
  return whole;
}

using Strings = std::vector<std::string>;
const std::string kGood = R"({"ok":1})";

}  // namespace

TEST_CASE("framing: what frame() writes is read back") {
  const std::string big(100'000, 'x');
  const Read read = read_all(frame("{}") + frame(big) + frame("caf\xc3\xa9"));
  CHECK(read.bodies == Strings{"{}", big, "caf\xc3\xa9"});
  CHECK(read.errors.empty());
}

TEST_CASE("framing: headers come in any order, any case, with any spacing") {
  for (const std::string header : {
           "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 8\r\n\r\n",
           "Content-Length: 8\r\nContent-Type: x\r\n\r\n",
           "content-length:8\r\n\r\n",
           "CONTENT-LENGTH:  \t8 \t\r\n\r\n",
           "Content-Length: 8\n\n",
           "Content-Length: 8\r\n\n",
           "Content-Length: 008\r\n\r\n",
           "\r\n\n\r\nContent-Length: 8\r\n\r\n",
           "Content-Length: 8\r\nContent-Length: 8\r\n\r\n",
       }) {
    INFO(header);
    const Read read = read_all(header + kGood + frame("next"));
    CHECK(read.bodies == Strings{kGood, "next"});
    CHECK(read.errors.empty());
  }
}

TEST_CASE("framing: a bad header is reported with its place and the next message is read") {
  struct Case {
    std::string header;
    std::string message;
    std::uint64_t byte;
  };
  const std::vector<Case> cases = {
      {"Content-Length: 8\r\nContent-Length: 9\r\n\r\n", "two different Content-Length headers: 8 and 9", 19},
      {"Content-Length: eight\r\n\r\n", "Content-Length is not a number: \"eight\"", 0},
      {"Content-Length: -8\r\n\r\n", "Content-Length is not a number: \"-8\"", 0},
      {"Content-Length: +8\r\n\r\n", "Content-Length is not a number: \"+8\"", 0},
      {"Content-Length: 0x8\r\n\r\n", "Content-Length is not a number: \"0x8\"", 0},
      {"Content-Length: 8.0\r\n\r\n", "Content-Length is not a number: \"8.0\"", 0},
      {"Content-Length: 8, 8\r\n\r\n", "Content-Length is not a number: \"8, 8\"", 0},
      {"Content-Length:\r\n\r\n", "Content-Length is not a number: \"\"", 0},
      {"Content-Length: 99999999999999999999999\r\n\r\n",
       "Content-Length is not a number: \"99999999999999999999999\"", 0},
      {"Content-Length: 0\r\n\r\n", "Content-Length is 0", 19},
      {"Content-Lenght: 8\r\n\r\n", "header without Content-Length", 19},
      {"Content-Type: x\r\n\r\n", "header without Content-Length", 17},
      {"Content-Length 8\r\n\r\n", "not a header line: \"Content-Length 8\"", 0},
      {"\x01\x02\x1b[31m\r\n\r\n", "not a header line: \"???[31m\"", 0},
      {": 8\r\n\r\n", "not a header line: \": 8\"", 0},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "not a header line: \"GET / HTTP/1.1\"", 0},
  };
  for (const auto& bad : cases) {
    INFO(bad.header);
    const Read read = read_all(bad.header + kGood + frame("next") + frame("after"));
    CHECK(read.order == Strings{"!", "next", "after"});
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].message == bad.message);
    CHECK(read.errors[0].byte == bad.byte);
  }
}

TEST_CASE("framing: a message past the limit is refused before it is held, and skipped") {
  FrameLimits limits;
  limits.max_content_bytes = 1000;
  const std::string huge(5000, 'x');
  const Read read = read_all(frame("a") + frame(huge) + frame("b"), limits);
  CHECK(read.order == Strings{"a", "!", "b"});
  CHECK(read.errors[0].message == "Content-Length 5000 is more than the limit of 1000 bytes");

  FrameReader reader(limits);
  reader.feed("Content-Length: 50000000\r\n\r\n");
  Read first;
  first.take(reader);
  CHECK(first.errors.size() == 1);
  for (int i = 0; i < 1000; ++i) {
    reader.feed(huge);
    CHECK_FALSE(reader.next());
    CHECK(reader.pending_bytes() < 100);
  }
  reader.feed(frame("back in step"));
  first.take(reader);
  CHECK(first.bodies == Strings{"back in step"});
}

TEST_CASE("framing: text in a skipped body that looks like a header is not one") {
  FrameLimits limits;
  limits.max_content_bytes = 40;
  // JSON holds line breaks escaped, so the line never ends.
  const std::string body =
      R"({"text":"Content-Length: 5\r\n\r\n Content-Length: 5 content-length content-LENGTH: 12"})";
  CHECK(read_all(frame(body) + frame("next"), limits).order == Strings{"!", "next"});
}

TEST_CASE("framing: a header without end is cut off at the limit") {
  FrameLimits limits;
  limits.max_header_bytes = 100;
  const Read no_newline = read_all(std::string(5000, 'x') + "\r\n" + frame("next"), limits);
  CHECK(no_newline.order == Strings{"!", "next"});
  CHECK(no_newline.errors[0].message == "header longer than 100 bytes");
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "X-Header: yes\r\n";
  CHECK(read_all(lines + "\r\n" + frame("next"), limits).order == Strings{"!", "next"});
}

TEST_CASE("framing: line ends without end are no message and take no memory") {
  FrameReader reader;
  for (int i = 0; i < 1000; ++i) {
    reader.feed("\r\n\n\r\n");
    CHECK_FALSE(reader.next());
  }
  CHECK(reader.pending_bytes() == 0);
  CHECK_FALSE(reader.finish());
}

TEST_CASE("framing: a body shorter than its length takes the next header with it, then all is well again") {
  const std::string short_by_10 = "Content-Length: 18\r\n\r\n" + kGood;
  const Read read = read_all(short_by_10 + frame("lost") + frame("next"));
  REQUIRE(read.order.size() == 3);
  CHECK(read.order[0] == kGood + "Content-Le");
  CHECK(read.order[1] == "!");
  CHECK(read.order[2] == "next");
}

TEST_CASE("framing: a body longer than its length is skipped to the next header") {
  const Read read = read_all("Content-Length: 8\r\n\r\n" + kGood + "trailing" + frame("next"));
  CHECK(read.order == Strings{kGood, "!", "next"});
}

TEST_CASE("framing: the end of the stream says what was cut off") {
  CHECK(read_all("").errors.empty());
  CHECK(read_all(frame("{}")).errors.empty());
  const Read body = read_all("Content-Length: 8\r\n\r\n{\"ok");
  CHECK(body.bodies.empty());
  REQUIRE(body.errors.size() == 1);
  CHECK(body.errors[0].message == "stream ended after 4 of the 8 bytes of a message");
  CHECK(body.errors[0].byte == 21);
  CHECK(read_all("Content-Length: 8\r\n").errors.at(0).message == "stream ended inside a header");
  CHECK(read_all("Content-Length: 8\r\n\r").errors.at(0).message == "stream ended inside a header");
  CHECK(read_all("Con").errors.at(0).message == "stream ended inside a header");
}

TEST_CASE("framing: every prefix and every flipped bit of a stream ends in messages or errors") {
  const std::string stream = frame("{\"a\":1}") + frame("{\"b\":2}") + frame("{\"c\":3}");
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    const Read read = read_in_pieces(stream.substr(0, size), 5);
    CHECK(read.bodies.size() <= 3);
    CHECK(read.errors.size() <= 1);
  }
  for (std::size_t at = 0; at < stream.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bent = stream;
      bent[at] = static_cast<char>(bent[at] ^ (1 << bit));
      const Read read = read_in_pieces(bent, 11);
      INFO("byte " << at << " bit " << bit);
      CHECK(read.order.size() >= 1);
      for (const auto& error : read.errors) CHECK(error.byte <= bent.size());
    }
  }
}

TEST_CASE("framing: feeding byte by byte costs what the bytes cost") {
  // Quadratic work would show as minutes here.
  FrameReader reader;
  const std::string stream = frame(std::string(4'000'000, 'x'));
  std::size_t n_bodies = 0;
  for (const char byte : stream) {
    reader.feed({&byte, 1});
    while (auto next = reader.next()) n_bodies += std::holds_alternative<std::string>(*next);
  }
  CHECK(n_bodies == 1);
}
