// States and chains against a scheduler that is made up: what was done nanosecond by nanosecond is known,
// also when events were lost.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/waits/chains.h"
#include "core/waits/wait_metrics.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::uint32_t kTasks = 5, kProcessors = 2;

struct Made {
  std::vector<SchedulerEvent> events;
  std::vector<std::uint32_t> record;          // by event: a switch has two events and is one record
  std::vector<std::vector<WaitState>> truth;  // by task and time; unknown before its first event
};

// A few threads on two processors. A stack is 10 times the task and up to 9 more.
Made made_up(Rng& rng, std::int64_t end) {
  Made out;
  out.truth.assign(kTasks, std::vector<WaitState>(static_cast<std::size_t>(end), WaitState::unknown));
  std::array<WaitState, kTasks> now{};
  now.fill(WaitState::unknown);
  std::array<std::uint32_t, kProcessors> running{};
  running.fill(kNone);
  std::uint32_t n_records = 0;
  const auto add = [&](SchedulerEvent event, bool new_record = true) {
    n_records += new_record;
    out.record.push_back(n_records);
    out.events.push_back(event);
  };
  for (std::int64_t t = 0; t < end; ++t) {
    const std::uint32_t processor = static_cast<std::uint32_t>(below(rng, kProcessors));
    std::uint32_t& on = running[processor];
    const auto stack = [&](std::uint32_t task) {
      return task * 10 + static_cast<std::uint32_t>(below(rng, 10));
    };
    const auto pick = [&](bool of_a_switch) {
      for (std::uint32_t i = 0, from = static_cast<std::uint32_t>(below(rng, kTasks)); i < kTasks; ++i) {
        const std::uint32_t task = (from + i) % kTasks;
        if (now[task] != WaitState::runnable) continue;
        add({.time = t, .task = task, .kind = SchedulerEventKind::switch_in}, !of_a_switch);
        now[task] = WaitState::on;
        on = task;
        return;
      }
    };
    if (chance(rng, 0.5) && on != kNone) {
      const double what = static_cast<double>(below(rng, 100)) / 100;
      if (what < 0.4) {
        add({.time = t, .task = on, .stack = stack(on), .kind = SchedulerEventKind::sample});
      } else {
        const bool blocks = what < 0.8;
        add({.time = t,
             .task = on,
             .stack = stack(on),
             .kind =
                 blocks ? SchedulerEventKind::switch_out_blocked : SchedulerEventKind::switch_out_runnable});
        const std::uint32_t left = on;
        on = kNone;
        now[left] = WaitState::blocked;  // not to be picked at once
        pick(true);
        if (!blocks) now[left] = WaitState::runnable;
      }
    } else if (chance(rng, 0.4) && on == kNone) {
      pick(false);
    } else {
      const std::uint32_t task = static_cast<std::uint32_t>(below(rng, kTasks));
      if (now[task] == WaitState::blocked || now[task] == WaitState::unknown) {
        SchedulerEvent waking{.time = t, .task = task, .kind = SchedulerEventKind::waking};
        if (on != kNone && chance(rng, 0.8)) {
          add({.time = t, .task = on, .kind = SchedulerEventKind::seen});
          waking.waker = on;
          add(waking, false);
        } else {
          waking.in_interrupt = true;
          add(waking);
        }
        now[task] = WaitState::runnable;
      }
    }
    for (std::uint32_t task = 0; task < kTasks; ++task)
      out.truth[task][static_cast<std::size_t>(t)] = now[task];
  }
  return out;
}

std::vector<SchedulerEvent> with_lost(const Made& made, double share, Rng& rng) {
  std::vector<SchedulerEvent> out;
  std::map<std::uint32_t, bool> lost;
  for (std::size_t i = 0; i < made.events.size(); ++i) {
    const auto [at, is_new] = lost.try_emplace(made.record[i], false);
    if (is_new) at->second = chance(rng, share);
    if (!at->second) out.push_back(made.events[i]);
  }
  return out;
}

TaskStates states_of(const std::vector<SchedulerEvent>& events) {
  return task_states(events, kTasks, true, {}).value();
}

std::array<std::int64_t, kNWaitStates> sums(const TaskStates& states) {
  std::array<std::int64_t, kNWaitStates> out{};
  for (const WaitSpan& span : states.spans)
    out[static_cast<std::size_t>(span.state)] += span.end - span.begin;
  return out;
}

const WaitSpan* span_at(const TaskStates& states, std::uint32_t task, std::int64_t time) {
  for (const WaitSpan& span : states.of(task))
    if (span.begin <= time && time < span.end) return &span;
  return nullptr;
}

// What is waited for at one moment, as a text.
std::string chain_at(const TaskStates& states, const WaitSpan* span, std::int64_t time) {
  std::string out = std::to_string(span->stack);
  for (std::size_t n = 0;; ++n) {
    if (span->ended == WaitEnd::interrupt) return out + " interrupt";
    if (span->ended == WaitEnd::open) return out + " open";
    if (span->ended == WaitEnd::unknown) return out + " no waker";
    if (n == kLongestChain) return out + " too long";
    const std::uint32_t waker = span->waker;
    span = span_at(states, waker, time);
    out += " <" + std::to_string(waker) + ":";
    if (span == nullptr) return out + "nothing";
    out += std::to_string(span->stack);
    if (span->state == WaitState::on) return out + " on";
    if (span->state == WaitState::runnable) return out + " runnable";
    if (span->state == WaitState::unknown) return out + " unknown";
  }
}

std::string text_of(const TaskStates& states, const ChainPiece& piece) {
  std::string out = std::to_string(states.spans[piece.links[0]].stack);
  std::uint32_t waker = states.spans[piece.links[0]].waker;
  for (const std::uint32_t row : piece.links.subspan(1)) {
    out += " <" + std::to_string(waker) + ":";
    if (row == kNone) return out + "nothing";
    out += std::to_string(states.spans[row].stack);
    waker = states.spans[row].waker;
  }
  constexpr std::array<const char*, kNChainEnds> kTexts{
      " on", " runnable", " unknown", " interrupt", " no waker", " open", " too long", " not followed"};
  return out + kTexts[static_cast<std::size_t>(piece.ended)];
}

}  // namespace

TEST_CASE("waits: states are what threads did, moment by moment") {
  Rng rng(20);
  for (int round = 0; round < 60; ++round) {
    const Made made = made_up(rng, 300);
    const TaskStates states = states_of(made.events);
    CHECK(states.contradictions == 0);
    for (std::uint32_t task = 0; task < kTasks; ++task) {
      const auto first = std::find_if(made.events.begin(), made.events.end(),
                                      [&](const SchedulerEvent& event) { return event.task == task; });
      const std::int64_t begin = first == made.events.end() ? 300 : first->time;
      for (std::int64_t t = 0; t < made.events.back().time; ++t) {
        const WaitSpan* const span = span_at(states, task, t);
        REQUIRE((span != nullptr) == (t >= begin));
        if (span != nullptr) REQUIRE(span->state == made.truth[task][static_cast<std::size_t>(t)]);
      }
    }
  }
}

TEST_CASE("waits: with lost events states still come to the wall time, and more of it is unknown") {
  Rng rng(20);
  std::array<std::int64_t, 3> unknown{};
  constexpr std::array<double, 3> kLost{0, 0.01, 0.05};
  for (int round = 0; round < 40; ++round) {
    const Made made = made_up(rng, 2000);
    for (std::size_t i = 0; i < kLost.size(); ++i) {
      const std::vector<SchedulerEvent> events = with_lost(made, kLost[i], rng);
      const TaskStates states = states_of(events);
      unknown[i] += sums(states)[static_cast<std::size_t>(WaitState::unknown)];
      for (std::uint32_t task = 0; task < kTasks; ++task) {
        std::int64_t at = -1;
        for (const WaitSpan& span : states.of(task)) {
          if (at >= 0) REQUIRE(span.begin == at);
          REQUIRE(span.end > span.begin);
          at = span.end;
        }
        if (at >= 0) REQUIRE(at == events.back().time);
      }
    }
  }
  CHECK(unknown[0] == 0);
  CHECK(unknown[1] > 0);
  CHECK(unknown[2] > unknown[1]);
}

TEST_CASE("waits: chains are those of every moment, and come to the time that is blocked") {
  Rng rng(20);
  std::size_t n_long = 0;
  for (int round = 0; round < 60; ++round) {
    const Made made = made_up(rng, 250);
    const std::vector<SchedulerEvent> events = with_lost(made, round % 2 == 0 ? 0 : 0.05, rng);
    const TaskStates states = states_of(events);
    std::map<std::string, std::int64_t> expected, got;
    std::int64_t blocked = 0, pieces = 0;
    for (std::uint32_t task = 0; task < kTasks; ++task)
      for (std::int64_t t = 0; t < 250; ++t) {
        const WaitSpan* const span = span_at(states, task, t);
        if (span == nullptr || span->state != WaitState::blocked) continue;
        ++expected[chain_at(states, span, t)];
        ++blocked;
      }
    const auto told = each_chain_piece(states, {},
                                       [&](const ChainPiece& piece) -> Result<void> {
                                         REQUIRE(piece.end > piece.begin);
                                         got[text_of(states, piece)] += piece.end - piece.begin;
                                         pieces += piece.end - piece.begin;
                                         n_long += piece.links.size() > 2;
                                         return {};
                                       },
                                       {});
    REQUIRE(told.value() == 0);
    REQUIRE(got == expected);
    REQUIRE(pieces == blocked);
  }
  CHECK(n_long > 0);
}

TEST_CASE("waits: a bound on chains leaves sums as they are and says how many were not followed") {
  Rng rng(20);
  const Made made = made_up(rng, 1000);
  const TaskStates states = states_of(made.events);
  std::int64_t got = 0;
  const auto told = each_chain_piece(states, {.pieces = 10},
                                     [&](const ChainPiece& piece) -> Result<void> {
                                       got += piece.end - piece.begin;
                                       return {};
                                     },
                                     {});
  CHECK(told.value() > 0);
  CHECK(got == sums(states)[static_cast<std::size_t>(WaitState::blocked)]);
}

TEST_CASE("waits: metrics of a profile add up in every thread, whatever was lost") {
  Rng rng(20);
  for (int round = 0; round < 20; ++round) {
    const Made made = made_up(rng, 600);
    std::vector<SchedulerEvent> events = with_lost(made, 0.03, rng);
    ProfileBuilder builder;
    builder.add_metric("cpu", "nanoseconds");
    declare_wait_metrics(builder);
    std::vector<WaitTask> tasks;
    for (std::uint32_t task = 0; task < kTasks; ++task) {
      const std::string name(1, static_cast<char>('a' + task));
      tasks.push_back({builder.thread({.name = name, .tid = task + 1}),
                       builder.context(kRootContext, builder.frame({.function = builder.function(name)}))});
    }
    for (SchedulerEvent& event : events)
      if (event.stack != kNone)
        event.stack = builder
                          .context(tasks[event.task].root,
                                   builder.frame({.function = builder.function(std::to_string(event.stack))}))
                          .v;
    const TaskStates states = states_of(events);
    REQUIRE(add_wait_samples(builder, states, tasks, 0, {}, {}).has_value());
    const ProfilePtr profile = std::move(builder).finish().value();
    const SampleTable& samples = *profile->samples();
    const auto by_thread = [&](std::string_view metric) {
      std::vector<std::int64_t> out(kTasks, 0);
      const auto& values = std::get<Column<std::int64_t>>(samples.values[profile->find_metric(metric)->v]);
      for (std::size_t row = 0; row < samples.size(); ++row) {
        REQUIRE(values[row] >= 0);
        out[static_cast<std::size_t>(profile->threads().tid[samples.thread[row]] - 1)] += values[row];
      }
      return out;
    };
    const auto wall = by_thread(wait_metric::wall), on = by_thread(wait_metric::on_cpu),
               blocked = by_thread(wait_metric::blocked), runnable = by_thread(wait_metric::runnable),
               unknown = by_thread(wait_metric::unknown);
    for (std::size_t t = 0; t < kTasks; ++t) {
      CHECK(wall[t] == on[t] + blocked[t] + runnable[t] + unknown[t]);
      const auto spans = states.of(static_cast<std::uint32_t>(t));
      CHECK(wall[t] == (spans.empty() ? 0 : spans.back().end - spans.front().begin));
    }
    CHECK(by_thread(wait_metric::chains) == blocked);
  }
}
