#include "server/runtime/progress.h"

#include <vector>

#include "tests/support/catch.h"

using profd::Progress;
using Kind = Progress::Event::Kind;

namespace {

struct Fixture {
  Progress::Clock::time_point now{};
  std::vector<Progress::Event> events;
  Progress::Send send() {
    return [this](const Progress::Event& event) { events.push_back(event); };
  }
  Progress::Now clock() {
    return [this] { return now; };
  }
};

}  // namespace

TEST_CASE("progress begins, reports ten times a second and ends once") {
  Fixture f;
  {
    Progress progress("Reading", f.send(), {}, f.clock());
    for (int ms = 0; ms < 1000; ++ms) {
      f.now += std::chrono::milliseconds(1);
      progress.report(static_cast<std::uint64_t>(ms), 1000);
    }
    progress.end("done");
    progress.end("again");
    progress.report(5, 10);
  }
  REQUIRE(f.events.size() >= 3);
  CHECK(f.events.size() <= 12);
  CHECK(f.events.front().kind == Kind::begin);
  CHECK(f.events.back().kind == Kind::end);
  for (std::size_t i = 2; i + 1 < f.events.size(); ++i)
    CHECK(f.events[i].percentage.value() >= f.events[i - 1].percentage.value());
}

TEST_CASE("work that is over within the quiet time says nothing") {
  Fixture f;
  {
    Progress progress("Reading", f.send(), std::chrono::milliseconds(300), f.clock());
    progress.report(1, 2);
  }
  CHECK(f.events.empty());
  {
    Progress progress("Reading", f.send(), std::chrono::milliseconds(300), f.clock());
    f.now += std::chrono::seconds(1);
    progress.report(1, 2);
  }
  REQUIRE(f.events.size() == 3);
  CHECK(f.events[2].kind == Kind::end);
}

TEST_CASE("a percentage never falls and a total that is passed stays at 100") {
  Fixture f;
  Progress progress("Reading", f.send(), {}, f.clock());
  f.now += std::chrono::seconds(1);
  progress.report(30, 10);
  f.now += std::chrono::seconds(1);
  progress.report(1, 10);
  CHECK(f.events[1].percentage == 100u);
  CHECK(f.events[2].percentage == 100u);
}
