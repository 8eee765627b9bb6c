#include "server/runtime/executor.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "core/support/account.h"
#include "server/runtime/scheduler.h"
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

TEST_CASE("what a task throws comes out of the run, once the others are over", "[executor]") {
  ThreadExecutor threads(4);
  Scheduler scheduler(4);
  SerialExecutor serial;
  for (Executor* executor : std::initializer_list<Executor*>{&threads, &scheduler.executor(), &serial}) {
    std::atomic<int> n_inside{0};
    CHECK_THROWS_AS(executor->run(100,
                                  [&](std::size_t i) {
                                    ++n_inside;
                                    std::this_thread::sleep_for(std::chrono::microseconds(100));
                                    --n_inside;
                                    if (i == 5) throw std::bad_alloc();
                                  }),
                    std::bad_alloc);
    CHECK(n_inside == 0);
    std::atomic<int> n{0};
    executor->run(10, [&](std::size_t) { ++n; });
    CHECK(n == 10);
  }
}

TEST_CASE("tasks work for the account of who runs them", "[executor][account]") {
  const auto pool = std::make_shared<MemoryPool>(std::uint64_t{1} << 30, std::uint64_t{1} << 30);
  ThreadExecutor threads(4);
  Scheduler scheduler(4);
  for (Executor* executor : std::initializer_list<Executor*>{&threads, &scheduler.executor()}) {
    Account account(pool, StopSource());
    {
      const Account::Scope scope(&account);
      executor->run(64, [&](std::size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        charge(1 << 20);
      });
    }
    constexpr std::int64_t kCharged = 64 << 20, kTheRun = 64 << 10;
    CHECK(account.used() >= kCharged);
    CHECK(account.used() < kCharged + kTheRun);
    executor->run(64, [&](std::size_t) { charge(1 << 20); });
    CHECK(account.used() < kCharged + kTheRun);
  }
}
