#include "core/support/turn.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/catch.h"

using namespace profd;

namespace {

struct Patient final : StopCondition {
  explicit Patient(std::atomic<int>& count) : n(count) {}
  bool stopped() const override { return false; }
  void make_way() const override { ++n; }
  std::atomic<int>& n;
};

}  // namespace

TEST_CASE("who holds a turn makes way for others only while nobody waits for the turn") {
  Turn turn;
  std::atomic<int> n_made_way = 0;
  const StopToken patient(std::make_shared<const Patient>(n_made_way));
  auto hold = std::make_unique<Result<Turn::Hold>>(turn.take(patient));
  REQUIRE(*hold);
  const StopToken while_held = (*hold)->token(patient);
  while_held.make_way();
  CHECK(n_made_way == 1);

  std::atomic<bool> taken = false;
  std::thread waiter([&] { taken = turn.take(StopToken()).has_value(); });
  // Until it waits: from then on nothing makes way.
  const auto makes_way = [&] {
    const int before = n_made_way;
    while_held.make_way();
    return n_made_way != before;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (makes_way() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(makes_way());
  CHECK_FALSE(taken);
  hold.reset();
  waiter.join();
  CHECK(taken);
  CHECK(makes_way());
}

TEST_CASE("a turn is given up on when that is asked for, and what is done in it stops as who took it") {
  Turn turn;
  const StopSource source;
  const auto hold = turn.take(StopToken(source));
  REQUIRE(hold);
  const StopToken while_held = hold->token(StopToken(source));
  CHECK_FALSE(while_held.stop_requested());
  StopSource(source).request_stop();
  CHECK(while_held.stop_requested());
  CHECK(turn.take(StopToken(source)).error().code == ErrorCode::cancelled);
}
