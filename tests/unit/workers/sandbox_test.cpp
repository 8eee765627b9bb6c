#include "workers/sandbox.h"

#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

namespace profd::worker {
namespace {

// What a confined process ends with: 0 where `allowed` was true.
int confined(const std::function<bool()>& allowed) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto is = confine();
    if (!is || !*is) ::_exit(77);
    ::_exit(allowed() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool refused(long result, int why) {
  return result < 0 && errno == why;
}

}  // namespace

TEST_CASE("who is confined opens, connects and starts nothing") {
  CHECK(confined([] { return refused(::open("/etc/passwd", O_RDONLY), EACCES); }) == 0);
  CHECK(confined([] { return refused(::open("/tmp/x", O_RDWR | O_CREAT, 0600), EACCES); }) == 0);
  CHECK(confined([] { return refused(::socket(AF_INET, SOCK_STREAM, 0), EPERM); }) == 0);
  CHECK(confined([] { return refused(::socket(AF_UNIX, SOCK_STREAM, 0), EPERM); }) == 0);
  CHECK(confined([] { return refused(::fork(), EPERM); }) == 0);
  CHECK(confined([] {
          char name[] = "/bin/true";
          char* const argv[] = {name, nullptr};
          return refused(::execv(name, argv), EPERM);
        }) == 0);
  CHECK(confined([] { return refused(::unlink("/tmp/no-such-file"), EPERM); }) == 0);
  CHECK(confined([] { return refused(::kill(::getppid(), 0), EPERM); }) == 0);
}

TEST_CASE("who is confined reads what it was given, and has memory") {
  const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  CHECK(confined([fd] {
          struct stat status {};
          if (::fstat(fd, &status) != 0) return false;
          void* at = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
          if (at == MAP_FAILED || static_cast<const char*>(at)[1] != 'E') return false;
          const std::string much(10'000'000, 'x');
          return ::close(fd) == 0 && much.back() == 'x';
        }) == 0);
  ::close(fd);
}

}  // namespace profd::worker
