#include "server/runtime/scheduler.h"

#include <atomic>
#include <future>
#include <numeric>
#include <stdexcept>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("without threads a task runs inside submit") {
  Scheduler scheduler(0);
  bool ran = false;
  scheduler.submit(Lane::bulk, "task", [&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("bulk work that fills every worker leaves one for interactive work") {
  Scheduler scheduler(3);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  for (int i = 0; i < 8; ++i) scheduler.submit(Lane::bulk, "slow", [released] { released.wait(); });
  std::promise<void> answered;
  scheduler.submit(Lane::interactive, "hover", [&] { answered.set_value(); });
  CHECK(answered.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  release.set_value();
}

TEST_CASE("an exception ends its task, is reported by name, and destroys what the task owned") {
  std::string reported;
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = owned;
  {
    Scheduler scheduler(
        0, [&](const std::string& name, const std::string& what) { reported = name + ": " + what; });
    scheduler.submit(Lane::bulk, "view/table", [owned = std::move(owned)] {
      throw std::runtime_error("out of " + std::to_string(*owned));
    });
  }
  CHECK(reported == "view/table: out of 7");
  CHECK(watch.expired());
}

TEST_CASE("the executor runs every piece once, from a worker of its own pool too") {
  for (const unsigned n_threads : {0u, 2u, 4u}) {
    Scheduler scheduler(n_threads);
    std::promise<int> total;
    scheduler.submit(Lane::bulk, "outer", [&] {
      std::vector<int> counts(1000, 0);
      scheduler.executor().run(counts.size(), [&](std::size_t i) {
        scheduler.executor().run(2, [&](std::size_t) {});  // nested: must not deadlock
        ++counts[i];
      });
      total.set_value(std::accumulate(counts.begin(), counts.end(), 0));
    });
    CHECK(total.get_future().get() == 1000);
  }
}
