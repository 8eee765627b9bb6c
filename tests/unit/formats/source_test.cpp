#include "formats/source.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::uint64_t kLimit = 1u << 30;

}  // namespace

TEST_CASE("files are read whole, small ones and mapped ones") {
  const TempFolder folder;
  for (const std::size_t size : {0u, 1u, 70000u, 20u << 20}) {
    std::string content(size, 'x');
    if (size > 0) content.back() = 'y';
    const auto source = open_file(folder.file("f", content), kLimit);
    REQUIRE(source);
    CHECK(source->text() == content);
  }
}

TEST_CASE("what cannot be opened says why") {
  const TempFolder folder;
  const auto missing = open_file((folder.path / "missing").string(), kLimit);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.find("No such file") != std::string::npos);

  const auto directory = open_file(folder.path.string(), kLimit);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().message.find("is a directory") != std::string::npos);

  const auto device = open_file("/dev/zero", kLimit);
  REQUIRE_FALSE(device);
  CHECK(device.error().code == ErrorCode::io);

  const std::string locked = folder.file("locked", "x");
  chmod(locked.c_str(), 0);
  const auto unreadable = open_file(locked, kLimit);
  // The superuser reads everything.
  if (geteuid() != 0) {
    REQUIRE_FALSE(unreadable);
    CHECK(unreadable.error().message.find("Permission denied") != std::string::npos);
  } else {
    CHECK(unreadable.has_value());
  }
  CHECK_FALSE(open_file(std::string("a\0b", 3), kLimit).has_value());
}

TEST_CASE("a file above the limit is refused by name of the limit") {
  const TempFolder folder;
  const auto source = open_file(folder.file("f", std::string(1001, 'x')), 1000);
  REQUIRE_FALSE(source);
  CHECK(source.error().code == ErrorCode::limit);
  CHECK(source.error().message.find("input_bytes") != std::string::npos);
}

TEST_CASE("a pipe that nobody writes to is given up soon after one is told to") {
  const TempFolder folder;
  const std::string path = (folder.path / "pipe").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int keeps_it_open = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(keeps_it_open >= 0);
  StopSource stop;
  std::thread told([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto source = open_file(path, kLimit, OpenRule::anything, StopToken(stop));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));  // a look every 20 ms
  told.join();
  close(keeps_it_open);
  REQUIRE_FALSE(source);
  CHECK(source.error().code == ErrorCode::cancelled);
}

TEST_CASE("a pipe is read to its end, or to the limit") {
  const TempFolder folder;
  const std::string path = (folder.path / "pipe").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::signal(SIGPIPE, SIG_IGN);  // the writer outlives a reader that gave up
  const std::string content(300000, 'p');
  for (const std::uint64_t limit : {kLimit, std::uint64_t{100000}}) {
    std::thread writer([&] {
      std::ofstream out(path, std::ios::binary);
      out << content;
    });
    const auto source = open_file(path, limit);
    if (limit == kLimit) {
      REQUIRE(source);
      CHECK(source->text() == content);
    } else {
      REQUIRE_FALSE(source);
      CHECK(source.error().code == ErrorCode::limit);
    }
    writer.join();
  }
}
