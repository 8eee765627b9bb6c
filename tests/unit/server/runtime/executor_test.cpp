#include "server/runtime/executor.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("every task runs once, run after run", "[executor]") {
  ThreadExecutor executor(4);
  for (const std::size_t n : {0u, 1u, 2u, 3u, 1000u}) {
    std::vector<std::atomic<int>> runs(n);
    executor.run(n, [&](std::size_t i) { ++runs[i]; });
    for (const auto& r : runs) CHECK(r == 1);
  }
}

TEST_CASE("a run inside a task is done by its caller", "[executor]") {
  ThreadExecutor executor(3);
  std::atomic<int> n{0};
  executor.run(4, [&](std::size_t) { executor.run(4, [&](std::size_t) { ++n; }); });
  CHECK(n == 16);
}

TEST_CASE("two threads may use one executor", "[executor]") {
  ThreadExecutor executor(3);
  std::atomic<int> n{0};
  const auto work = [&] {
    for (int i = 0; i < 100; ++i) executor.run(5, [&](std::size_t) { ++n; });
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(n == 1000);
}
