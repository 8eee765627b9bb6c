#include "server/runtime/timers.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/strand.h"

using namespace profd;
using profd::test::Strand;

TEST_CASE("tasks come on the strand in the order of their times, none before its time") {
  using Clock = std::chrono::steady_clock;
  Strand strand;
  Timers timers(strand.post());
  std::vector<int> order;
  const auto begin = Clock::now();
  Clock::time_point late;
  timers.after(std::chrono::milliseconds(60), [&] {
    order.push_back(2);
    late = Clock::now();
  });
  timers.after(std::chrono::milliseconds(5), [&] { order.push_back(1); });
  REQUIRE(strand.run_until([&] { return order.size() == 2; }));
  CHECK(order == std::vector{1, 2});
  CHECK(late - begin >= std::chrono::milliseconds(60));
}

TEST_CASE("nothing comes after the stop, and what waits is let go of") {
  Strand strand;
  Timers timers(strand.post());
  const auto held = std::make_shared<int>(1);
  timers.after(std::chrono::hours(1), [held] {});
  CHECK(held.use_count() == 2);
  timers.stop();
  CHECK(held.use_count() == 1);
  timers.after(std::chrono::milliseconds(0), [held] {});
  CHECK_FALSE(strand.run_one(std::chrono::milliseconds(20)));
  CHECK(held.use_count() == 1);
}
