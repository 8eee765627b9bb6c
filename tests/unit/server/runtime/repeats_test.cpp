#include "server/runtime/repeats.h"

#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE(
    "a text that comes again and again is said three times, then at every power of ten with its count") {
  Repeats repeats;
  const Repeats::Clock::time_point now{std::chrono::hours(1)};
  std::vector<std::string> said;
  for (int i = 0; i < 2500; ++i)
    if (const auto text = repeats.next("the same", now)) said.push_back(*text);
  CHECK(said == std::vector<std::string>{"the same", "the same", "the same", "the same (said 10 times)",
                                         "the same (said 100 times)", "the same (said 1,000 times)"});
  CHECK(repeats.next("another", now) == "another");
}

TEST_CASE("a text that did not come for a minute is new again") {
  Repeats repeats;
  Repeats::Clock::time_point now{std::chrono::hours(1)};
  for (int i = 0; i < 4; ++i) static_cast<void>(repeats.next("a", now));
  CHECK_FALSE(repeats.next("a", now += std::chrono::seconds(59)));
  CHECK(repeats.next("a", now + std::chrono::seconds(61)) == "a");
}
