#include "server/platform/unix_socket.h"

#include <cstdlib>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "server/platform/file_watcher.h"
#include "server/platform/process.h"
#include "server/platform/runtime_dir.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

struct Scratch {
  Scratch() {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    path = ::mkdtemp(pattern);
  }
  ~Scratch() { static_cast<void>(std::system(("rm -rf " + path).c_str())); }
  std::string path;
};

unsigned mode_of(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 0777u;
}

}  // namespace

TEST_CASE("a socket is private, in use while somebody listens, and taken over when stale") {
  const Scratch scratch;
  const std::string path = scratch.path + "/s";
  {
    const auto first = listen_unix(path);
    REQUIRE(first);
    CHECK(mode_of(path) == 0600);
    const auto second = listen_unix(path);
    REQUIRE_FALSE(second);
    CHECK(second.error().message.find("in use") != std::string::npos);
    const auto client = connect_unix(path);
    REQUIRE(client);
    CHECK(check_peer(client->get()));
  }
  CHECK(connect_unix(path).error().code == ErrorCode::not_found);  // the file is there, nobody listens
  CHECK(listen_unix(path));
}

TEST_CASE("what is no socket is left alone") {
  const Scratch scratch;
  const std::string path = scratch.path + "/file";
  std::ofstream(path) << "precious";
  REQUIRE_FALSE(listen_unix(path));
  CHECK(::access(path.c_str(), F_OK) == 0);
  CHECK_FALSE(listen_unix(std::string(200, 'x')));
  CHECK_FALSE(listen_unix(""));
}

TEST_CASE("the runtime folder is private or refused") {
  const Scratch scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path.c_str(), 1);
  const auto folder = runtime_dir();
  REQUIRE(folder);
  CHECK(mode_of(*folder) == 0700);
  ::chmod(folder->c_str(), 0755);
  CHECK_FALSE(runtime_dir());
  ::rmdir(folder->c_str());
  REQUIRE(::symlink("/tmp", folder->c_str()) == 0);
  CHECK_FALSE(runtime_dir());
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("a private file has mode 0600 and replaces what was there") {
  const Scratch scratch;
  const std::string path = scratch.path + "/token";
  REQUIRE(write_private_file(path, "one"));
  REQUIRE(write_private_file(path, "two"));
  CHECK(mode_of(path) == 0600);
  std::string content;
  std::ifstream(path) >> content;
  CHECK(content == "two");
}

TEST_CASE("a lock is held by one at a time") {
  const Scratch scratch;
  const std::string path = scratch.path + "/lock";
  {
    const auto lock = FileLock::acquire(path, 0);
    REQUIRE(lock);
    CHECK_FALSE(FileLock::acquire(path, 30));
  }
  CHECK(FileLock::acquire(path, 0));
}
