#include "workers/frames.h"

#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/catch.h"

namespace profd {
namespace {

std::pair<UniqueFd, UniqueFd> pair_of_sockets() {
  auto ends = make_frame_sockets();
  REQUIRE(ends);
  return std::move(*ends);
}

FrameDeadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

void write_raw(int socket, std::initializer_list<unsigned char> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  REQUIRE(::write(socket, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("a frame comes as it was sent, of any length") {
  const auto [one, other] = pair_of_sockets();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3'000'001}}) {
    std::string sent(size, 'x');
    if (size > 0) sent.back() = '\0';
    std::thread sender([&, to = one.get()] { REQUIRE(send_frame(to, sent)); });
    const auto got = receive_frame(other.get(), in(std::chrono::seconds(10)));
    sender.join();
    REQUIRE(got);
    CHECK(got->bytes == sent);
    CHECK(got->files.empty());
  }
}

TEST_CASE("an open file comes with its frame and no other") {
  const auto [one, other] = pair_of_sockets();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  REQUIRE(send_frame(one.get(), "with", {write_end.get()}));
  REQUIRE(send_frame(one.get(), "without"));
  write_end.reset();
  {
    const auto with = receive_frame(other.get(), in(std::chrono::seconds(10)));
    REQUIRE(with);
    REQUIRE(with->files.size() == 1);
    CHECK(::fcntl(with->files[0].get(), F_GETFD) == FD_CLOEXEC);
    REQUIRE(::write(with->files[0].get(), "!", 1) == 1);
  }
  char got = 0;
  CHECK(::read(read_end.get(), &got, 1) == 1);
  CHECK(::read(read_end.get(), &got, 1) == 0);  // closed with the frame
  const auto without = receive_frame(other.get(), in(std::chrono::seconds(10)));
  REQUIRE(without);
  CHECK(without->bytes == "without");
  CHECK(without->files.empty());
}

TEST_CASE("who says nothing in time, or half a frame, is not waited for") {
  const auto [one, other] = pair_of_sockets();
  auto got = receive_frame(other.get(), in(std::chrono::milliseconds(20)));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::limit);
  write_raw(one.get(), {8, 0, 0, 0, 0, 0, 0, 0, 'h', 'a', 'l', 'f'});
  got = receive_frame(other.get(), in(std::chrono::milliseconds(20)));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::limit);
}

TEST_CASE("who does not read is not waited for") {
  const auto [one, other] = pair_of_sockets();
  const auto sent = send_frame(one.get(), std::string(8'000'000, 'x'), {}, in(std::chrono::milliseconds(50)));
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == ErrorCode::limit);
}

TEST_CASE("a frame that claims too much, or files that it has not, is an error") {
  const auto [one, other] = pair_of_sockets();
  write_raw(one.get(), {255, 255, 255, 255, 0, 0, 0, 0});
  auto got = receive_frame(other.get(), in(std::chrono::seconds(10)));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::limit);
  write_raw(one.get(), {1, 0, 0, 0, 1, 0, 0, 0, 'x'});
  got = receive_frame(other.get(), in(std::chrono::seconds(10)));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::malformed);
}

TEST_CASE("the end of the other end is an error of its own") {
  auto [one, other] = pair_of_sockets();
  one.reset();
  const auto got = receive_frame(other.get(), in(std::chrono::seconds(10)));
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::io);
  CHECK_FALSE(send_frame(other.get(), "x"));  // and no signal
}

}  // namespace profd
