#include "server/runtime/scheduler.h"

#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("without threads a task runs inside submit") {
  Scheduler scheduler(0);
  bool ran = false;
  scheduler.submit(Lane::bulk, 1, "task", [&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("bulk work that fills every worker leaves one for interactive work") {
  Scheduler scheduler(3);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  for (int i = 0; i < 8; ++i) scheduler.submit(Lane::bulk, 1, "slow", [released] { released.wait(); });
  std::promise<void> answered;
  scheduler.submit(Lane::interactive, 1, "hover", [&] { answered.set_value(); });
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
    scheduler.submit(Lane::bulk, 1, "view/table", [owned = std::move(owned)] {
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
    scheduler.submit(Lane::bulk, 1, "outer", [&] {
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

namespace {

// Tasks that run until they are let go.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    if (!std::exchange(is_open_, true)) promise_.set_value();
  }
  [[nodiscard]] Scheduler::Task task(std::function<void()> first = {}) const {
    return [opened = opened_, first = std::move(first)] {
      if (first) first();
      opened.wait();
    };
  }

 private:
  bool is_open_ = false;
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

bool soon(std::promise<void>& promise) {
  return promise.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("a client's first task begins although another one has a thousand that never end") {
  Scheduler scheduler(3);
  Gate gate;
  for (int i = 0; i < 1000; ++i) scheduler.submit(Lane::bulk, 1, "view", gate.task());
  std::promise<void> bulk, interactive;
  scheduler.submit(Lane::bulk, 2, "view", [&] { bulk.set_value(); });
  scheduler.submit(Lane::interactive, 2, "hover", [&] { interactive.set_value(); });
  CHECK(soon(bulk));
  CHECK(soon(interactive));
}

TEST_CASE("a flood of one client's interactive tasks leaves a worker for another one's bulk task") {
  Scheduler scheduler(3);
  Gate gate;
  for (int i = 0; i < 1000; ++i) scheduler.submit(Lane::interactive, 1, "hover", gate.task());
  std::promise<void> bulk;
  scheduler.submit(Lane::bulk, 2, "open", [&] { bulk.set_value(); });
  CHECK(soon(bulk));
}

TEST_CASE("those who keep workers busy leave one, all together, to somebody who did not") {
  Scheduler scheduler(3);  // three workers for both lanes
  std::atomic<int> n_over{0};
  std::promise<void> all_over;
  for (const ClientId client : {1u, 2u, 3u})
    scheduler.submit(Lane::bulk, client, "export", [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      if (++n_over == 3) all_over.set_value();
    });
  REQUIRE(soon(all_over));
  Gate gate;
  for (const ClientId client : {1u, 2u, 3u}) scheduler.submit(Lane::bulk, client, "export", gate.task());
  std::promise<void> newcomer;
  scheduler.submit(Lane::bulk, 4, "view", [&] { newcomer.set_value(); });
  CHECK(soon(newcomer));
}

TEST_CASE("those who have more waiting leave one, all together, to somebody who asks for one thing") {
  Scheduler scheduler(3);  // three workers for both lanes
  Gate others, gate;
  std::atomic<int> n_others{0}, n_begun{0};
  for (const ClientId client : {5u, 6u})
    scheduler.submit(Lane::bulk, client, "view", others.task([&] { ++n_others; }));
  const auto task = [&] { return gate.task([&] { ++n_begun; }); };
  scheduler.submit(Lane::bulk, 1, "export", task());  // which seems little
  while (n_others + n_begun < 3) std::this_thread::yield();
  for (const ClientId client : {1u, 2u, 3u})
    for (int i = 0; i < 5; ++i) scheduler.submit(Lane::bulk, client, "export", task());
  others.open();
  while (n_begun < 2) std::this_thread::yield();
  std::promise<void> newcomer;
  scheduler.submit(Lane::bulk, 4, "view", [&] { newcomer.set_value(); });
  CHECK(soon(newcomer));
  CHECK(n_begun == 2);
}

TEST_CASE("it is quiet since the last client's task ended, whatever the daemon itself does") {
  Scheduler scheduler(3);
  Gate ours, theirs;
  std::promise<void> begun;
  scheduler.submit(Lane::bulk, kNobody, "prepare", ours.task([&] { begun.set_value(); }));
  REQUIRE(soon(begun));
  CHECK(scheduler.quiet() > std::chrono::hours(0));
  scheduler.submit(Lane::bulk, 1, "view", theirs.task());
  CHECK(scheduler.quiet() == std::chrono::hours(0));
  theirs.open();
  while (scheduler.quiet() == std::chrono::hours(0)) std::this_thread::yield();
  CHECK(scheduler.quiet() < std::chrono::minutes(1));
}

TEST_CASE("clients are served in turn, each in the order of its own tasks") {
  Scheduler scheduler(2);  // two workers for both lanes, of which one client gets one
  Gate first, second;
  std::promise<void> running_first, running_second;
  scheduler.submit(Lane::bulk, 8, "busy", first.task([&] { running_first.set_value(); }));
  scheduler.submit(Lane::bulk, 9, "busy", second.task([&] { running_second.set_value(); }));
  REQUIRE(soon(running_first));
  REQUIRE(soon(running_second));
  std::mutex mutex;
  std::string order;
  std::promise<void> done;
  const auto note = [&](const char* what) {
    return [&, what] {
      const std::lock_guard lock(mutex);
      order += what;
      if (order.size() == 12) done.set_value();
    };
  };
  for (const char* task : {"a1", "a2", "a3"}) scheduler.submit(Lane::bulk, 1, task, note(task));
  for (const char* task : {"b1", "b2"}) scheduler.submit(Lane::bulk, 2, task, note(task));
  scheduler.submit(Lane::bulk, kNobody, "n1", note("n1"));
  first.open();  // one worker is free now
  REQUIRE(soon(done));
  CHECK(order == "a1b1n1a2b2a3");
}

TEST_CASE("who comes anew stands behind those who wait, whatever number it has") {
  Scheduler scheduler(2);  // two workers for both lanes
  Gate one, other;
  std::atomic<int> n_begun{0};
  scheduler.submit(Lane::bulk, 8, "view", one.task([&] { ++n_begun; }));
  scheduler.submit(Lane::bulk, 9, "view", other.task([&] { ++n_begun; }));
  while (n_begun < 2) std::this_thread::yield();
  std::mutex mutex;
  std::vector<ClientId> order;
  std::promise<void> all;
  for (const ClientId client : {7u, 5u, 1u, 3u})
    scheduler.submit(Lane::bulk, client, "view", [&, client] {
      const std::lock_guard lock(mutex);
      order.push_back(client);
      if (order.size() == 4) all.set_value();
    });
  one.open();
  REQUIRE(soon(all));
  CHECK(order == std::vector<ClientId>{7, 5, 1, 3});
}

TEST_CASE("however many messages are being read, one worker is free of that") {
  Scheduler scheduler(3);  // three workers for both lanes
  Gate gate;
  std::atomic<int> n_reading{0};
  for (ClientId client = 1; client <= 6; ++client)
    scheduler.submit(Lane::bulk, client, "parse", gate.task([&] { ++n_reading; }), TaskKind::reading);
  while (n_reading < 2) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    std::promise<void> view;
    scheduler.submit(Lane::bulk, 7, "view", [&] { view.set_value(); });
    REQUIRE(soon(view));
    CHECK(n_reading == 2);
  }
}

TEST_CASE("the pieces of a task make way for another client between two of them") {
  Scheduler scheduler(3);
  Gate gate;
  std::promise<void> busy, served;
  // The third worker for both lanes is taken, so that the second client waits for a piece.
  scheduler.submit(Lane::bulk, 3, "busy", gate.task([&] { busy.set_value(); }));
  REQUIRE(soon(busy));
  std::atomic<bool> over{false};
  std::atomic<int> n_pieces{0};
  scheduler.submit(Lane::bulk, 1, "open", [&] {
    scheduler.executor().run(100'000, [&](std::size_t) {
      ++n_pieces;
      std::this_thread::sleep_for(std::chrono::milliseconds(over ? 0 : 1));
    });
  });
  while (n_pieces < 4) std::this_thread::yield();
  scheduler.submit(Lane::bulk, 2, "view", [&] { served.set_value(); });
  const bool in_time = served.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  over = true;
  CHECK(in_time);
}

TEST_CASE("a task of several clients is done once, at the first one's turn") {
  Scheduler scheduler(2);
  Gate gate;
  for (int i = 0; i < 20; ++i) scheduler.submit(Lane::bulk, 1, "view", gate.task());
  std::atomic<int> n_done{0};
  std::promise<void> done;
  const auto shared = std::make_shared<SharedTask>([&] {
    ++n_done;
    done.set_value();
  });
  SharedTask::submit(scheduler, Lane::bulk, 1, "open", shared);
  SharedTask::submit(scheduler, Lane::bulk, 2, "open", shared);
  CHECK(soon(done));
  gate.open();
  while (scheduler.n_tasks(Lane::bulk) > 0) std::this_thread::yield();
  CHECK(n_done == 1);
}

TEST_CASE("a client with as many waiting tasks as it may have is full, and others are not") {
  Scheduler scheduler(2);
  Gate gate;
  std::promise<void> running;
  scheduler.submit(Lane::bulk, 1, "view", gate.task([&] { running.set_value(); }));
  REQUIRE(soon(running));
  CHECK_FALSE(scheduler.full(1));
  for (std::size_t i = 0; i < Scheduler::kMaxWaiting; ++i) scheduler.submit(Lane::bulk, 1, "view", [] {});
  CHECK(scheduler.full(1));
  CHECK_FALSE(scheduler.full(2));
}
