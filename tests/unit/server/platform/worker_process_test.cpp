// The process that reads binaries, as it ends: by itself, by signals, by its bounds.
#include "server/platform/worker_process.h"

#include <csignal>
#include <filesystem>

#include "tests/support/catch.h"
#include "workers/symbols.h"

namespace profd {
namespace {

FrameDeadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(20);
}

WorkerProcess started(const WorkerLimits& limits = {}) {
  auto process = WorkerProcess::start(PROFD_SYMBOLIZE, limits);
  REQUIRE(process);
  return std::move(*process);
}

worker::Hello greeting_of(WorkerProcess& process) {
  const auto frame = process.receive(soon());
  REQUIRE(frame);
  const auto report = worker::decode_report(frame->bytes);
  REQUIRE(report);
  return std::get<worker::Hello>(*report);
}

// What it ended by, when its end is met by who waits for an answer.
std::string how_it_ended(WorkerProcess& process) {
  const auto frame = process.receive(soon());
  REQUIRE_FALSE(frame);
  CHECK(frame.error().code == ErrorCode::io);
  return process.end();
}

std::size_t n_descriptors(pid_t pid) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    static_cast<void>(entry);
    ++n;
  }
  return n;
}

}  // namespace

TEST_CASE("a worker says who it is and that it is confined, and has three descriptors and its socket") {
  WorkerProcess process = started();
  const worker::Hello hello = greeting_of(process);
  CHECK_FALSE(hello.version.empty());
  CHECK(hello.confined);
  CHECK(n_descriptors(process.pid()) == 4);
}

TEST_CASE("what a worker ended by is said: a signal, a crash, its memory") {
  for (const auto& [signal, text] :
       {std::pair(SIGKILL, "was killed"), std::pair(SIGSEGV, "crashed (SIGSEGV)"),
        std::pair(SIGXCPU, "took more than 120 s of processor time")}) {
    WorkerProcess process = started();
    greeting_of(process);
    REQUIRE(::kill(process.pid(), signal) == 0);
    CHECK(how_it_ended(process) == text);
  }
  WorkerLimits small;
  small.memory = 16 << 20;
  WorkerProcess process = started(small);
  greeting_of(process);
  worker::ModuleOrder much{"a", "", worker::Addresses::vaddr, {}};
  for (std::uint64_t i = 0; i < 6'000'000; ++i) much.addresses.push_back(i);
  static_cast<void>(process.send(encode(worker::Order(std::move(much))), {}, soon()));
  CHECK(how_it_ended(process) == "needed more than 16 MiB of memory");
}

TEST_CASE("a worker that hangs is not waited for, and is gone with its object") {
  pid_t pid = 0;
  {
    WorkerProcess process = started();
    greeting_of(process);
    pid = process.pid();
    REQUIRE(::kill(pid, SIGSTOP) == 0);
    const auto frame = process.receive(std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
    REQUIRE_FALSE(frame);
    CHECK(frame.error().code == ErrorCode::limit);
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a worker ends when nothing more can come") {
  WorkerProcess process = started();
  greeting_of(process);
  CHECK(process.end().empty());
}

TEST_CASE("a program that is not there, or is no worker, is an error") {
  CHECK_FALSE(WorkerProcess::start("/nothing/of/that/name", {}));
  auto process = WorkerProcess::start("/bin/false", {});
  REQUIRE(process);
  CHECK(how_it_ended(*process) == "ended with exit code 1");
}

}  // namespace profd
