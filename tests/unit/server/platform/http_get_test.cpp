// What the client of HTTP does with whoever does not answer as it should.
#include "server/platform/http_get.h"

#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// Takes one connection, says `answer` and keeps it open.
class Answering {
 public:
  explicit Answering(std::string answer) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      connection_ = ::accept(listener_, nullptr, nullptr);
      (void)::send(connection_, answer.data(), answer.size(), MSG_NOSIGNAL);
    });
  }
  ~Answering() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(connection_);
    ::close(listener_);
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

  [[nodiscard]] HttpGet request() const {
    HttpGet get;
    get.host = "127.0.0.1";
    get.port = std::to_string(port_);
    get.target = "/a";
    get.shown = "http://it/a";
    get.max_bytes = 1000;
    return get;
  }

 private:
  int listener_, connection_ = -1;
  unsigned port_ = 0;
  std::thread thread_;
};

constexpr std::chrono::milliseconds kSoon{100};

}  // namespace

TEST_CASE("who never answers is not waited for beyond the patience") {
  const Answering silent("");
  HttpGet get = silent.request();
  get.patience = kSoon;
  const auto answer = http_get(get, {});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::io);
  CHECK(answer.error().message == "http://it/a: there was no answer in time");
}

TEST_CASE("a body that stops coming is given up") {
  const Answering stuck("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  HttpGet get = stuck.request();
  get.silence = kSoon;
  CHECK(http_get(get, {}).error().message == "http://it/a: its answer did not end in time");
}

TEST_CASE("who gives up while it is waited is heard soon") {
  const Answering silent("");
  const StopSource stop;
  HttpGet get = silent.request();
  get.waiting = [source = stop](std::chrono::milliseconds) mutable { source.request_stop(); };
  CHECK(http_get(get, StopToken(stop)).error().code == ErrorCode::cancelled);
}

TEST_CASE("a body in chunks is one body, and no more of it than may be") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  {
    const Answering good(head + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
    CHECK(http_get(good.request(), {}).value().body == "abcde");
  }
  const Answering large(head + "3e9\r\n" + std::string(1001, 'x') + "\r\n0\r\n\r\n");
  CHECK(http_get(large.request(), {}).error().code == ErrorCode::limit);
}

TEST_CASE("a status is an answer with the beginning of what it says") {
  const Answering gone("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nwhat?");
  const HttpAnswer answer = http_get(gone.request(), {}).value();
  CHECK(answer.status == 404);
  CHECK(answer.body == "what?");
}
