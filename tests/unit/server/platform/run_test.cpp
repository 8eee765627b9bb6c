// Other programs, within bounds.
#include "server/platform/run.h"

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;

namespace {

RunRequest shell(const std::string& script) {
  RunRequest request;
  request.argv = {"sh", "-c", script};
  return request;
}

}  // namespace

TEST_CASE("a program's answer, errors and exit code come back") {
  const auto answer = run_program(shell("echo out; echo err >&2; exit 3"), StopToken{});
  REQUIRE(answer);
  CHECK(answer->output == "out\n");
  CHECK(answer->errors == "err\n");
  CHECK(answer->exit_code == 3);
}

TEST_CASE("a program that is not there, takes too long, says too much or is not wanted is an error") {
  RunRequest missing;
  missing.argv = {"/nothing/of/that/name"};
  CHECK_FALSE(run_program(missing, StopToken{}));
  RunRequest slow = shell("sleep 60 & sleep 60");
  slow.timeout = std::chrono::milliseconds(50);
  const auto late = run_program(slow, StopToken{});
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::limit);
  RunRequest loud = shell("while :; do echo aaaaaaaaaaaaaaaa; done");
  loud.max_output = 1000;
  CHECK(run_program(loud, StopToken{}).error().code == ErrorCode::limit);
  StopSource stop;
  stop.request_stop();
  CHECK(run_program(shell("sleep 60"), StopToken(stop)).error().code == ErrorCode::cancelled);
  // Closing its output does not make it go on unseen.
  RunRequest silent = shell("exec >&- 2>&-; sleep 60");
  silent.timeout = std::chrono::milliseconds(50);
  CHECK_FALSE(run_program(silent, StopToken{}));
}

TEST_CASE("the environment is this one's, without what is left out and with what is put in") {
  ::setenv("PROFD_TEST_A", "1", 1);
  ::setenv("PROFD_OTHER", "2", 1);
  RunRequest request = shell("echo \"$PROFD_TEST_A,$PROFD_OTHER,$PROFD_NEW\"; cat");
  request.without_prefix = "PROFD_TEST_";
  request.environment = {{"PROFD_NEW", "3"}};
  const auto answer = run_program(request, StopToken{});
  REQUIRE(answer);
  CHECK(answer->output == ",2,3\n");
  ::unsetenv("PROFD_TEST_A");
  ::unsetenv("PROFD_OTHER");
}

#ifdef __linux__
TEST_CASE("a program has no more memory, descriptors and files than it was given") {
  RunRequest wide = shell("exec tail /dev/zero");  // keeps all that it has read of the last line
  wide.max_memory = std::uint64_t{64} << 20;
  wide.timeout = std::chrono::milliseconds(60'000);
  const auto ended = run_program(wide, StopToken{});
  REQUIRE(ended);
  CHECK(ended->exit_code != 0);
  CHECK(ended->errors.find("memory") != std::string::npos);
  RunRequest busy = shell("while :; do :; done");
  busy.max_cpu_s = 1;
  busy.timeout = std::chrono::milliseconds(60'000);
  CHECK(run_program(busy, StopToken{}).error().code == ErrorCode::io);  // by a signal
  // Limits are set as soon as the program is there, which may have begun by then.
  RunRequest open = shell("until [ \"$(ulimit -n)\" = 32 ]; do :; done; ulimit -n");
  open.timeout = std::chrono::milliseconds(60'000);
  open.max_files = 32;
  CHECK(run_program(open, StopToken{})->output == "32\n");
  const profd::test::TempFolder folder;
  RunRequest writes = shell("until [ \"$(ulimit -f)\" = 0 ]; do :; done; echo out; trap '' XFSZ; echo x > '" +
                            folder.path.string() + "/a' || echo refused");
  writes.may_write = false;
  writes.timeout = std::chrono::milliseconds(60'000);
  const auto answer = run_program(writes, StopToken{});
  REQUIRE(answer);
  CHECK(answer->output == "out\nrefused\n");
}
#endif
