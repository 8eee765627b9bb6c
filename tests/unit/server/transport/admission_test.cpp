#include "server/transport/admission.h"

#include <vector>

#include "server/transport/first_message.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

FirstMessage::State say(std::string_view bytes, std::size_t max = 100) {
  FirstMessage first(max);
  return first.feed(bytes);
}

}  // namespace

TEST_CASE("TCP and HTTP never take the places that are kept for the owner, token or not") {
  Admission admission({.connections = 10, .for_owner = 3, .tcp_strangers = 8});
  std::vector<std::unique_ptr<Admission::Place>> places;
  const auto next = [&] { return places.size() % 2 == 0 ? Stranger::tcp : Stranger::http; };
  while (auto place = admission.admit_stranger(next(), [] {})) {
    place->known();
    places.push_back(std::move(place));
  }
  CHECK(places.size() == 7);
  for (int i = 0; i < 3; ++i) {
    places.push_back(admission.admit_owner());
    CHECK(places.back());
  }
  CHECK_FALSE(admission.admit_owner());
  places.erase(places.begin());
  CHECK(admission.admit_owner());
  places.clear();
  CHECK(admission.n_connections() == 0);
}

TEST_CASE("the oldest who has not shown the token makes room for a new one") {
  Admission admission({.connections = 100, .for_owner = 10, .tcp_strangers = 2});
  std::unique_ptr<Admission::Place> a, b, c;
  std::vector<char> gone;
  a = admission.admit_stranger(Stranger::tcp, [&] {
    gone.push_back('a');
    a.reset();
  });
  b = admission.admit_stranger(Stranger::tcp, [&] {
    gone.push_back('b');
    b.reset();
  });
  a->known();
  c = admission.admit_stranger(Stranger::tcp, [] {});
  CHECK(c);
  CHECK(gone.empty());
  const auto d = admission.admit_stranger(Stranger::tcp, [] {});
  CHECK(d);
  CHECK(gone == std::vector<char>{'b'});
  CHECK(a);
  CHECK(admission.n_strangers(Stranger::tcp) == 2);
}

TEST_CASE("strangers of one listener make no room for those of another") {
  Admission admission({.connections = 100, .for_owner = 10, .tcp_strangers = 1, .http_strangers = 2});
  bool left = false;
  const auto tcp = admission.admit_stranger(Stranger::tcp, [&] { left = true; });
  std::vector<std::unique_ptr<Admission::Place>> pages(2);
  for (auto& page : pages) page = admission.admit_stranger(Stranger::http, [&page] { page.reset(); });
  const auto third = admission.admit_stranger(Stranger::http, [] {});
  CHECK(third);
  CHECK_FALSE(pages[0]);
  CHECK(pages[1]);
  CHECK_FALSE(left);
  CHECK(admission.n_strangers(Stranger::tcp) == 1);
  CHECK(admission.n_strangers(Stranger::http) == 2);
  CHECK(admission.n_connections() == 3);
}

TEST_CASE("a process that may open few files holds few connections") {
  CHECK(admission_limits(1024).connections == 256);
  CHECK(admission_limits(1024).for_owner == 64);
  CHECK(admission_limits(100).connections == 36);
  CHECK(admission_limits(100).for_owner == 9);
  CHECK(admission_limits(20).connections == 8);
}

TEST_CASE("a first message is taken in pieces, and what comes behind it is kept") {
  FirstMessage first(100);
  const std::string bytes = "content-LENGTH: 4\r\nContent-Type: x\r\n\r\nbodyContent-Le";
  for (std::size_t i = 0; i + 11 < bytes.size(); ++i)
    REQUIRE(first.feed(bytes.substr(i, 1)) == FirstMessage::State::incomplete);
  REQUIRE(first.feed(bytes.substr(bytes.size() - 11)) == FirstMessage::State::complete);
  CHECK(first.message() == "body");
  CHECK(first.rest() == "Content-Le");
}

TEST_CASE("another protocol is known by its first bytes") {
  for (const std::string_view bytes :
       {"G", "POST / HTTP/1.1\r\n", "CONNECT ", "\x16\x03\x01", "\r\n", " ", "{", "Content-Lengths: 4"})
    CHECK(say(bytes) == FirstMessage::State::foreign);
  CHECK(say("Con") == FirstMessage::State::incomplete);
}

TEST_CASE("nothing is looked for behind a header that is wrong or announces too much") {
  const std::string good = "Content-Length: 2\r\n\r\n{}";
  CHECK(say("Content-Length: x\r\n\r\n" + good) == FirstMessage::State::broken);
  CHECK(say("Content-Length: 101\r\n\r\n" + good) == FirstMessage::State::broken);
  CHECK(say("Content-Type: " + std::string(2000, 'x')) == FirstMessage::State::broken);
  CHECK(say("Content-Type: a\r\nGET / HTTP/1.1\r\n\r\n" + good) == FirstMessage::State::broken);
}

TEST_CASE("a first message is the same in pieces of any size") {
  for (const std::string bytes :
       {"Content-Length: 4\r\n\r\nbody", "Content-Length: 4\r\n\r\nbodyand more",
        "Content-Type: a\nContent-Length: 2\n\n{}", "Content-Length: 101\r\n\r\nx",
        "Content-Length: 4\r\nX Y\r\n\r\nbody", "GET / HTTP/1.1\r\n\r\n", "Content-Length: 9\r\n\r\nbody"}) {
    FirstMessage whole(100);
    const auto wanted = whole.feed(bytes);
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      FirstMessage pieces(100);
      auto state = FirstMessage::State::incomplete;
      std::size_t at = 0;
      for (; at < bytes.size() && state == FirstMessage::State::incomplete; at += piece)
        state = pieces.feed(std::string_view(bytes).substr(at, piece));
      CHECK(state == wanted);
      CHECK(pieces.message() == whole.message());
      const std::string behind = at < bytes.size() ? bytes.substr(at) : "";
      if (state == FirstMessage::State::complete) CHECK(pieces.rest() + behind == whole.rest());
    }
  }
}
