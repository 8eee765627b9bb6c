// Other programs, within bounds.
#include "server/platform/run.h"

#include "tests/support/catch.h"

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
