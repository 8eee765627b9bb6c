#include "core/waits/states.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Kind = SchedulerEventKind;

bool is(const WaitSpan& span, std::int64_t begin, std::int64_t end, WaitState state,
        std::uint32_t stack = kNone) {
  return span.begin == begin && span.end == end && span.state == state && span.stack == stack;
}

SchedulerEvent event(std::int64_t time, Kind kind, std::uint32_t stack = kNone, std::uint32_t task = 0) {
  return {.time = time, .task = task, .stack = stack, .kind = kind};
}

}  // namespace

TEST_CASE("waits: a thread is on a processor, blocked, then ready until it is on one again") {
  std::vector<SchedulerEvent> events{event(10, Kind::switch_in), event(20, Kind::switch_out_blocked, 7),
                                     event(50, Kind::waking), event(60, Kind::switch_in),
                                     event(65, Kind::switch_out_exited)};
  events[2].waker = 1;
  const TaskStates states = task_states(events, 2, true, {}).value();
  const auto spans = states.of(0);
  REQUIRE(spans.size() == 4);
  CHECK(is(spans[0], 10, 20, WaitState::on));
  CHECK(is(spans[1], 20, 50, WaitState::blocked, 7));
  CHECK(spans[1].waker == 1);
  CHECK(is(spans[2], 50, 60, WaitState::runnable, 7));
  CHECK(is(spans[3], 60, 65, WaitState::on));
  CHECK(states.of(1).empty());
}

TEST_CASE("waits: samples share the time on a processor, each the part that is nearest to it") {
  const std::vector<SchedulerEvent> events{
      event(0, Kind::switch_in),  event(10, Kind::sample, 1),
      event(30, Kind::sample, 2), event(60, Kind::switch_out_runnable, 3),
      event(70, Kind::switch_in), event(80, Kind::switch_out_exited)};
  const auto states = task_states(events, 1, true, {}).value();
  const auto spans = states.of(0);
  REQUIRE(spans.size() == 4);
  CHECK(is(spans[0], 0, 20, WaitState::on, 1));
  CHECK(is(spans[1], 20, 60, WaitState::on, 2));
  CHECK(is(spans[2], 60, 70, WaitState::runnable, 3));
  CHECK(is(spans[3], 70, 80, WaitState::on));
}

TEST_CASE("waits: what contradicts itself is unknown, up to where it is known again") {
  SECTION("no switch-out: unknown since it was last seen on a processor") {
    const auto states =
        task_states(std::vector{event(0, Kind::switch_in), event(10, Kind::sample, 1),
                                event(50, Kind::switch_in), event(60, Kind::switch_out_exited)},
                    1, true, {})
            .value();
    REQUIRE(states.of(0).size() == 3);
    CHECK(is(states.of(0)[0], 0, 10, WaitState::on, 1));
    CHECK(is(states.of(0)[1], 10, 50, WaitState::unknown));
    CHECK(states.contradictions == 1);
  }
  SECTION("no waking: nobody knows since when it was ready") {
    const auto states =
        task_states(std::vector{event(0, Kind::switch_out_blocked, 1), event(50, Kind::switch_in),
                                event(60, Kind::switch_out_exited)},
                    1, true, {})
            .value();
    CHECK(is(states.of(0)[0], 0, 50, WaitState::unknown));
  }
  SECTION("no switch-in: on a processor from where a sample shows it") {
    const auto states =
        task_states(std::vector{event(0, Kind::switch_out_runnable, 1), event(30, Kind::sample, 2),
                                event(60, Kind::switch_out_exited)},
                    1, true, {})
            .value();
    REQUIRE(states.of(0).size() == 2);
    CHECK(is(states.of(0)[0], 0, 30, WaitState::unknown));
    CHECK(is(states.of(0)[1], 30, 60, WaitState::on, 2));
  }
}

TEST_CASE("waits: in a recording without wakings a thread is blocked until it runs, by nobody knows whom") {
  const auto states =
      task_states(std::vector{event(0, Kind::switch_out_blocked, 1), event(50, Kind::switch_in)}, 1, false,
                  {})
          .value();
  REQUIRE(states.of(0).size() == 1);
  CHECK(is(states.of(0)[0], 0, 50, WaitState::blocked, 1));
  CHECK(states.of(0)[0].ended == WaitEnd::unknown);
}

TEST_CASE("waits: a waking just before the switch-out that it ends leaves no time blocked") {
  const auto states =
      task_states(std::vector{event(0, Kind::switch_in), event(10, Kind::waking),
                              event(12, Kind::switch_out_blocked, 1), event(30, Kind::switch_in)},
                  1, true, {})
          .value();
  REQUIRE(states.of(0).size() == 2);
  CHECK(is(states.of(0)[1], 12, 30, WaitState::runnable, 1));
  CHECK(states.contradictions == 0);
}

TEST_CASE("waits: a wait without a return is open to the end of the recording") {
  const auto states =
      task_states(std::vector{event(0, Kind::switch_out_blocked, 1, 0), event(90, Kind::switch_in, kNone, 1)},
                  2, true, {})
          .value();
  REQUIRE(states.of(0).size() == 1);
  CHECK(is(states.of(0)[0], 0, 90, WaitState::blocked, 1));
  CHECK(states.of(0)[0].ended == WaitEnd::open);
}

TEST_CASE(
    "waits: threads that leave a processor and never come back were not recorded with their switch-ins") {
  std::vector<SchedulerEvent> outs, both;
  for (std::int64_t t = 0; t < 10; ++t) {
    outs.push_back(event(2 * t, Kind::switch_out_blocked));
    both.push_back(event(2 * t, Kind::switch_out_blocked));
    both.push_back(event(2 * t + 1, Kind::switch_in));
  }
  CHECK_FALSE(has_switch_ins(outs, 1));
  CHECK(has_switch_ins(both, 1));
  CHECK_FALSE(has_switch_ins({}, 0));
}
