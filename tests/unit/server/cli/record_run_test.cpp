// Programs in the terminal, and how they are ended.
#include "server/cli/record_run.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using test::TempFolder;

namespace {

std::vector<std::string> in_shell(const std::string& script) {
  return {"sh", "-c", script};
}

// A signal to this process once the program has written its file.
std::thread signal_when(const std::string& file, int signal) {
  return std::thread([file, signal] {
    while (!std::ifstream(file).good()) ::usleep(1000);
    ::kill(::getpid(), signal);
  });
}

// Whether the process that a file names still does something: one that nobody has waited for does not.
bool still_runs(const std::string& file) {
  std::string pid, name, state;
  std::ifstream(file) >> pid;
  REQUIRE(!pid.empty());
  std::ifstream status("/proc/" + pid + "/stat");
  return status >> pid >> name >> state && state != "Z";
}

}  // namespace

TEST_CASE("a program's exit code is that of a shell", "[record]") {
  CHECK(run_in_terminal(in_shell("exit 3"))->exit_code == 3);
  const auto killed = run_in_terminal(in_shell("kill -KILL $$"));
  REQUIRE(killed);
  CHECK(killed->exit_code == 128 + SIGKILL);
  CHECK_FALSE(killed->interrupted);
  CHECK_FALSE(run_in_terminal({"/no/such/program"}));
}

TEST_CASE("what a program leaves behind in its group is ended", "[record]") {
  const TempFolder folder;
  const std::string file = folder.path.string() + "/pid";
  REQUIRE(run_in_terminal(in_shell("sleep 600 & echo $! > " + file)));
  CHECK_FALSE(still_runs(file));
}

TEST_CASE("a signal goes to the whole group, and to one that ignores it a harder one", "[record]") {
  // It must not end this process where it comes to another thread first.
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &held, &before);
  for (const char* ignored : {"", "trap '' INT; ", "trap '' INT TERM; "}) {
    const TempFolder folder;
    const std::string file = folder.path.string() + "/pid";
    std::thread signals = signal_when(file, SIGINT);
    const auto ran =
        run_in_terminal(in_shell(std::string(ignored) + "echo $$ > " + file + ".new; mv " + file + ".new " +
                                 file + "; while :; do sleep 0.01; done"),
                        {.patience = {std::chrono::milliseconds(50), std::chrono::milliseconds(50)},
                         .beside = nullptr,
                         .tick = {}});
    signals.join();
    REQUIRE(ran);
    CHECK(ran->interrupted);
    CHECK(ran->exit_code > 128);
    CHECK_FALSE(still_runs(file));
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a sampler beside a program is tried until the program is one that it can read", "[record]") {
  const TempFolder folder;
  const std::string tried = folder.path.string() + "/tried", log = folder.path.string() + "/log";
  // Fails twice, then waits for the end of the program and writes what it saw.
  BesideSampler sampler({"/bin/sh", "-c",
                         "echo x >> " + tried + "; [ $(wc -l < " + tried + ") -gt 2 ] || exit 1; " +
                             "while kill -0 $1 2> /dev/null; do sleep 0.01; done; echo $1 > " +
                             folder.path.string() + "/profile",
                         "sh", std::string(kPidWord)},
                        log);
  const auto ran = run_in_terminal(
      in_shell("while [ $(cat " + tried + " 2> /dev/null | wc -l) -lt 3 ]; do sleep 0.01; done; exit 5"),
      {{}, &sampler, {}});
  REQUIRE(ran);
  CHECK(ran->exit_code == 5);
  CHECK(ran->sampler_failure.empty());
  CHECK(std::filesystem::exists(folder.path / "profile"));
}

TEST_CASE("a sampler that cannot read the program says so, and the program is ended", "[record]") {
  const TempFolder folder;
  BesideSampler sampler({"/bin/sh", "-c", "echo first; echo Permission denied >&2; exit 1"},
                        folder.path.string() + "/log");
  const auto ran = run_in_terminal(in_shell("while :; do sleep 0.01; done"), {{}, &sampler, {}});
  REQUIRE(ran);
  CHECK(ran->sampler_failure == "Permission denied");
  CHECK(ran->exit_code == 128 + SIGINT);
}
