#include "formats/support/scheduler_events.h"

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

// A line of the scheduler as perf script prints it, with a stack.
std::string line(std::string_view thread, int microseconds, std::string_view event, std::string_view fields,
                 std::string_view frames, std::string_view period = "1") {
  std::string out = fmt::format("{} [000] 1.{:06}: {} {}: {}\n", thread, microseconds, period, event, fields);
  for (std::size_t begin = 0; begin < frames.size();) {
    const std::size_t end = std::min(frames.find(' ', begin), frames.size());
    out += fmt::format("\t    1000 {} (/bin/demo)\n", frames.substr(begin, end - begin));
    begin = end + 1;
  }
  return out + "\n";
}
std::string switched(std::string_view from, int from_tid, std::string_view state, std::string_view to,
                     int to_tid, int at, std::string_view frames, std::string_view period = "1") {
  return line(fmt::format("{} {}", from, from_tid), at, "sched:sched_switch",
              fmt::format("prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> next_comm={} next_pid={} "
                          "next_prio=120",
                          from, from_tid, state, to, to_tid),
              frames, period);
}
std::string waking(std::string_view by, int by_tid, std::string_view who, int tid, int at,
                   std::string_view frames) {
  return line(fmt::format("{} {}", by, by_tid), at, "sched:sched_waking",
              fmt::format("comm={} pid={} prio=120 target_cpu=000", who, tid), frames);
}

// main waits 100 us for io, which sleeps 60 us of these; leaf first.
std::string waiting() {
  return switched("main", 1, "S", "io", 2, 0, "futex main_waits") +
         switched("io", 2, "D", "swapper", 0, 10, "sleep io_reads") +
         waking("swapper", 0, "io", 2, 70, "wake hrtimer_interrupt") +
         switched("swapper", 0, "R", "io", 2, 80, "idle") + waking("io", 2, "main", 1, 100, "wake io_tells") +
         switched("io", 2, "S", "main", 1, 130, "futex io_waits") +
         switched("main", 1, "X", "swapper", 0, 150, "exit");
}

ReadOutcome read_text(const std::string& text) {
  return read_with("perf-script", text);
}

std::string told(const ReadOutcome& outcome, std::string_view kind) {
  for (const ReportRow& row : outcome.report.rows())
    if (row.kind == kind) return row.message;
  return {};
}

}  // namespace

TEST_CASE("scheduler events: states and chains of a text, each in stacks that end in what they are") {
  const ReadOutcome outcome = read_text(waiting());
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  const Profile& profile = *outcome.profiles[0];
  CHECK(self_by_path(profile, "blocked") ==
        std::map<std::string, double>{{"main;main_waits;futex;(blocked)", 100'000},
                                      {"io;io_reads;sleep;(blocked)", 60'000},
                                      {"io;io_waits;futex;(blocked)", 20'000}});
  CHECK(self_by_path(profile, "runnable") ==
        std::map<std::string, double>{{"main;main_waits;futex;(runnable)", 30'000},
                                      {"io;io_reads;sleep;(runnable)", 10'000}});
  CHECK(self_by_path(profile, "on-cpu") ==
        std::map<std::string, double>{{"io;(on CPU, no sample)", 60'000},
                                      {"main;(on CPU, no sample)", 20'000}});
  CHECK(self_by_path(profile, "unknown").empty());
  CHECK(self_by_path(profile, "chains") ==
        std::map<std::string, double>{{"main;main_waits;futex;--;io;(on CPU, no sample)", 30'000},
                                      {"main;main_waits;futex;--;io;io_reads;sleep;(interrupt)", 60'000},
                                      {"main;main_waits;futex;--;io;io_reads;sleep;(runnable)", 10'000},
                                      {"io;io_reads;sleep;(interrupt)", 60'000},
                                      {"io;io_waits;futex;(open)", 20'000}});
  CHECK(profile.n_samples() == 7);
  CHECK(outcome.report.rows().empty());
}

TEST_CASE("scheduler events: frames of wakers are told from those of the thread itself") {
  const ReadOutcome outcome = read_text(waiting());
  REQUIRE(outcome.profiles.size() == 1);
  const Profile& profile = *outcome.profiles[0];
  for (std::uint32_t context = 1; context < profile.tree().size(); ++context) {
    bool behind = false;
    for (std::uint32_t at = context; at != 0; at = profile.tree().parent[at])
      behind = behind || profile.frames().kind[profile.tree().frame[at]] == FrameKind::waker;
    bool expected = false;
    for (std::uint32_t at = context; at != 0; at = profile.tree().parent[at])
      expected =
          expected || profile.function_name(profile.frames().function[profile.tree().frame[at]]) == "--";
    CHECK(behind == expected);
  }
}

TEST_CASE("scheduler events: sampled ones are refused, with what to do") {
  const ReadOutcome outcome =
      read_text(waiting() + switched("io", 2, "S", "main", 1, 200, "futex io_waits", "3"));
  REQUIRE(outcome.profiles.size() == 1);
  CHECK_FALSE(outcome.profiles[0]->find_metric("wall"));
  CHECK(told(outcome, "no-thread-states").find("were sampled, not all of them recorded") !=
        std::string::npos);
}

TEST_CASE("scheduler events: without switch-ins there are no states, and it says why") {
  std::string text;
  for (int i = 0; i < 4; ++i) text += switched("main", 1, "S", "swapper", 0, i, "futex");
  const ReadOutcome outcome = read_text(text);
  REQUIRE(outcome.profiles.size() == 1);
  CHECK_FALSE(outcome.profiles[0]->find_metric("wall"));
  CHECK(told(outcome, "no-thread-states").find("perf record -a") != std::string::npos);
}

TEST_CASE("scheduler events: without wakings who woke a thread is unknown") {
  const ReadOutcome outcome = read_text(switched("main", 1, "S", "io", 2, 0, "futex") +
                                        switched("io", 2, "S", "main", 1, 40, "sleep") +
                                        switched("main", 1, "X", "swapper", 0, 50, "exit"));
  REQUIRE(outcome.profiles.size() == 1);
  CHECK(self_by_path(*outcome.profiles[0], "chains") ==
        std::map<std::string, double>{{"main;futex;(waker unknown)", 40'000}, {"io;sleep;(open)", 10'000}});
  CHECK(told(outcome, "no-wakings").find("who woke a thread is unknown") != std::string::npos);
}

TEST_CASE("scheduler events: both ways in which perf prints them are read") {
  SchedulerSwitch out;
  REQUIRE(parse_scheduler_switch("prev_comm=a b prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=x ==> y "
                                 "next_pid=9 next_prio=120",
                                 out) == false);
  REQUIRE(parse_scheduler_switch(
      "prev_comm=a b prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=x y next_pid=9 next_prio=120",
      out));
  CHECK(out.prev_tid == 7);
  CHECK(out.next_tid == 9);
  CHECK(out.next_name == "x y");
  CHECK(out.out == SchedulerEventKind::switch_out_runnable);
  REQUIRE(parse_scheduler_switch("a:b:7 [120] D ==> swapper/1:0 [120]", out));
  CHECK(out.prev_tid == 7);
  CHECK(out.next_tid == 0);
  CHECK(out.out == SchedulerEventKind::switch_out_blocked);
  CHECK_FALSE(parse_scheduler_switch("a ==> b", out));
  SchedulerWaking woken;
  REQUIRE(parse_scheduler_waking("comm=a pid=3 b pid=12 prio=120 target_cpu=001", woken));
  CHECK(woken.tid == 12);
  CHECK(woken.name == "a pid=3 b");
  REQUIRE(parse_scheduler_waking("io:12 [120] CPU:001", woken));
  CHECK(woken.tid == 12);
  CHECK_FALSE(parse_scheduler_waking("comm=a", woken));
}

TEST_CASE("scheduler events: records of context switches give states without stacks") {
  PerfDataFile file;
  file.comm(7, "demo");
  constexpr std::uint16_t kOut = 1 << 13, kPreempted = 1 << 14;
  file.sample(2, 7, 10, 5, {PerfDataFile::kUserMark, 0x1010});
  file.record(14, kOut, file.tail(7, 20));
  file.record(14, 0, file.tail(7, 50));
  file.record(14, kOut | kPreempted, file.tail(7, 60));
  file.record(14, 0, file.tail(7, 65));
  const ReadOutcome outcome = read_with("perf-data", file.bytes);
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  const Profile& profile = *outcome.profiles[0];
  CHECK(self_by_path(profile, "blocked") == std::map<std::string, double>{{"demo;(blocked)", 30}});
  CHECK(self_by_path(profile, "runnable") == std::map<std::string, double>{{"demo;(runnable)", 5}});
  CHECK(std::get<std::int64_t>(profile.total(*profile.find_metric("on-cpu"))) == 20);
}
