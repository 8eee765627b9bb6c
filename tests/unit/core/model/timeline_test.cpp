// What core/model/timeline.h promises of the tables that a builder makes.
#include "core/model/timeline.h"

#include <array>
#include <random>

#include "core/model/profile_builder.h"
#include "core/model/timeline_order.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

struct Made {
  ProfileBuilder builder;
  MetricId metric = builder.add_metric("samples", "count");
  FrameId frame(std::string_view name) { return builder.frame({.function = builder.function(name)}); }
  ContextId at(std::string_view name) { return builder.context(kRootContext, frame(name)); }
  void sample(ContextId context, const SampleContext& where) {
    builder.add_sample(context, std::array<std::int64_t, 1>{1}, where);
  }
  ThreadId thread(std::int64_t tid) { return builder.thread({.tid = tid}); }
  ProfilePtr finish() { return std::move(builder).finish().value(); }
};

template <class T>
std::vector<T> list(const Column<T>& column) {
  return {column.begin(), column.end()};
}

using Ids = std::vector<std::uint32_t>;
using Times = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a profile without times has no timeline") {
  Made made;
  made.sample(made.at("f"), {.thread = made.thread(1)});
  CHECK(made.finish()->timeline() == nullptr);
}

TEST_CASE("samples are ordered by thread, then time, then row, and have states") {
  Made made;
  const ContextId f = made.at("f");
  const ThreadId a = made.thread(1), b = made.thread(2);
  made.sample(f, {.thread = b, .time = 5});
  made.sample(f, {.time = 1});
  made.sample(f, {.thread = a, .time = 9, .state = ThreadState::waiting});
  made.sample(f, {.thread = b, .time = 3, .state = ThreadState::running});
  made.sample(f, {.thread = a, .time = 9});
  made.sample(f, {.thread = a});
  const ProfilePtr profile = made.finish();
  const Timeline& timeline = *profile->timeline();
  CHECK(list(timeline.samples.row) == Ids{5, 2, 4, 3, 0, 1});
  CHECK(timeline.samples.row_at(1) == 2);
  CHECK(list(timeline.samples.state) == std::vector{ThreadState::unknown, ThreadState::unknown,
                                                    ThreadState::waiting, ThreadState::running,
                                                    ThreadState::unknown, ThreadState::unknown});
  CHECK(in_order(timeline.samples, *profile->samples(), 0, 6));
  CHECK(profile->memory() >= 6 * 4 + 6);
}

TEST_CASE("samples that stand in order, and states that nobody knows, take no memory") {
  Made made;
  const ContextId f = made.at("f");
  for (std::int64_t time = 0; time < 5; ++time) made.sample(f, {.thread = made.thread(1), .time = time});
  const ProfilePtr profile = made.finish();
  REQUIRE(profile->timeline() != nullptr);
  CHECK(profile->timeline()->memory() == 0);
  CHECK(profile->timeline()->samples.row_at(3) == 3);
}

TEST_CASE("states without times follow their samples, which are then sorted by context") {
  Made made;
  const ContextId second = made.at("b"), first = made.at("a");
  const ThreadId a = made.thread(1), b = made.thread(2);
  made.sample(second, {.thread = a, .state = ThreadState::running});
  made.sample(first, {.thread = b, .state = ThreadState::waiting});
  const ProfilePtr profile = made.finish();
  const SampleTable& samples = *profile->samples();
  const Timeline& timeline = *profile->timeline();
  for (std::uint32_t row = 0; row < 2; ++row)
    CHECK((timeline.samples.state[row] == ThreadState::waiting) == (samples.thread[row] == b.v));
  CHECK(samples.thread[timeline.samples.row_at(0)] == a.v);
}

TEST_CASE("spans come by thread, then task, then begin, the longer first; contexts are renumbered") {
  Made made;
  const ThreadId a = made.thread(1), b = made.thread(2);
  const ContextId outer = made.at("z"), inner = made.builder.context(outer, made.frame("a"));
  made.sample(outer, {.thread = a, .time = 0});
  made.sample(made.at("b"), {.thread = a, .time = 0});
  TimelineBuilder& out = made.builder.timeline();
  const StringId name = made.builder.string("request");
  const TaskId task = out.add_task({.name = name}), other = out.add_task({.name = name, .parent = task});
  out.add_span({.begin = 7, .end = 8});
  out.add_span({.begin = 3, .end = 4, .name = name, .task = other});
  out.add_span({.begin = 3, .end = 5, .context = inner, .thread = b});
  out.add_span({.begin = 3, .end = 9, .context = outer, .thread = b, .task = task});
  out.add_span({.begin = 3, .context = outer, .thread = b});
  out.add_span({.begin = 9, .end = 9, .context = outer, .thread = a});
  out.add_span({.begin = 1, .end = 2, .task = task});
  const ProfilePtr profile = made.finish();
  const SpanTable& spans = profile->timeline()->spans;
  CHECK(list(spans.begin) == Times{9, 3, 3, 3, 1, 3, 7});
  CHECK(list(spans.end) == Times{9, kNoTime, 9, 5, 2, 4, 8});
  CHECK(list(spans.thread) == Ids{a.v, b.v, b.v, b.v, kNone, kNone, kNone});
  CHECK(list(spans.task) == Ids{kNone, kNone, task.v, kNone, task.v, other.v, kNone});
  CHECK(profile->strings()[spans.name[5]] == "request");
  const auto name_of = [&](std::uint32_t context) {
    return profile->function_name(profile->frames().function[profile->tree().frame[context]]);
  };
  CHECK(name_of(spans.context[0]) == "z");
  CHECK(name_of(spans.context[3]) == "a");
  CHECK(profile->tree().parent[spans.context[3]] == spans.context[2]);
  CHECK(spans.context[6] == kNone);
  CHECK(in_order(spans, 0, spans.size()));
}

TEST_CASE("columns that say nothing are empty") {
  Made made;
  made.builder.timeline().add_span({.begin = 1, .end = 2});
  made.builder.timeline().add_marker({.begin = 1, .end = 1, .name = made.builder.string("gc")});
  made.builder.timeline().add_task({.name = made.builder.string("t")});
  made.builder.add_self(made.at("f"), made.metric, std::int64_t{1});
  const ProfilePtr profile = made.finish();
  CHECK(profile->samples() == nullptr);
  const Timeline& timeline = *profile->timeline();
  CHECK(timeline.memory() == 16 + 16 + 4 + 4);
  CHECK(value_or(timeline.spans.thread, 0, kNone) == kNone);
  CHECK(value_or(timeline.tasks.begin, 0, kNoTime) == kNoTime);
}

TEST_CASE("markers come by thread and begin, with category, context and fields") {
  Made made;
  const ThreadId a = made.thread(1);
  const Label size{made.builder.string("size"), true, StringId{0u}, 12, made.builder.string("bytes")};
  const LabelSetId fields = made.builder.label_set({&size, 1});
  TimelineBuilder& out = made.builder.timeline();
  out.add_marker({.begin = 1, .end = 4, .name = made.builder.string("x")});
  out.add_marker({.begin = 9, .end = 9, .name = made.builder.string("y"), .thread = a, .fields = fields});
  out.add_marker({.begin = 2,
                  .name = made.builder.string("z"),
                  .category = made.builder.string("GC"),
                  .thread = a,
                  .context = made.at("f")});
  made.sample(made.at("f"), {.time = 0});
  const ProfilePtr profile = made.finish();
  const MarkerTable& markers = profile->timeline()->markers;
  CHECK(list(markers.begin) == Times{2, 9, 1});
  CHECK(list(markers.end) == Times{kNoTime, 9, 4});
  CHECK(profile->strings()[markers.category[0]] == "GC");
  CHECK(list(markers.context) == Ids{1, kNone, kNone});
  CHECK(list(markers.label_set) == Ids{0, fields.v, 0});
  CHECK(in_order(markers, 0, 3));
}

TEST_CASE("counters of one name and owner are one, their points stand by time") {
  Made made;
  TimelineBuilder& out = made.builder.timeline();
  const CounterSpec memory{.name = made.builder.string("memory"), .unit = made.builder.string("bytes")};
  CounterSpec other = memory;
  other.process = made.builder.string("p");
  const CounterId first = out.counter(memory), second = out.counter(other);
  CHECK(out.counter(memory) == first);
  out.add_point(second, 4, 0.5);
  out.add_point(first, 9, 2);
  out.add_point(first, 3, 1);
  const ProfilePtr profile = made.finish();
  const CounterTable& counters = profile->timeline()->counters;
  REQUIRE(counters.size() == 2);
  CHECK(list(counters.first) == Ids{0, 2, 3});
  CHECK(list(counters.time) == Times{3, 9, 4});
  CHECK(list(counters.value) == std::vector{1.0, 2.0, 0.5});
  CHECK(counters.thread.empty());
  CHECK(profile->strings()[counters.process[1]] == "p");
}

TEST_CASE("tasks have a parent before them, what they await, and a time that grows") {
  Made made;
  TimelineBuilder& out = made.builder.timeline();
  const StringId name = made.builder.string("task");
  const TaskId parent = out.add_task({.name = name, .context = made.at("spawn"), .begin = 5});
  const TaskId child = out.add_task({.name = name, .parent = parent, .thread = made.thread(3)});
  out.set_awaits(parent, child);
  out.set_awaits(child, child);
  out.extend_task(child, 7, 8);
  out.extend_task(child, 6, 12);
  out.extend_task(parent, kNoTime, 2);
  const ProfilePtr profile = made.finish();
  const TaskTable& tasks = profile->timeline()->tasks;
  CHECK(list(tasks.parent) == Ids{kNone, parent.v});
  CHECK(list(tasks.awaits) == Ids{child.v, kNone});
  CHECK(list(tasks.begin) == Times{5, 6});
  CHECK(list(tasks.end) == Times{kNoTime, 12});
  CHECK(list(tasks.context) == Ids{1, kNone});
}

TEST_CASE("what does not fit is dropped and counted") {
  Made made;
  TimelineBuilder& out = made.builder.timeline();
  out.set_limits({.rows = 2});
  for (int i = 0; i < 5; ++i) {
    out.add_span({.begin = 3, .end = i});
    out.add_marker({.begin = 1, .end = 1});
    const CounterId counter = out.counter({.name = made.builder.string("c" + std::to_string(i))});
    CHECK(counter.valid() == (i < 2));
    out.add_point(counter, 1, 1);
    CHECK(out.add_task({}).valid() == (i < 2));
  }
  CHECK_FALSE(out.counter({.name = made.builder.string("c4")}).valid());
  out.add_point(CounterId{0u}, kNoTime, 1);
  const TimelineDrops drops = made.builder.timeline_drops();
  CHECK(drops.spans == 3);
  CHECK(drops.markers == 3);
  CHECK(drops.counters == 4);
  CHECK(drops.points == 4);
  CHECK(drops.tasks == 3);
  CHECK(drops.ends == 2);
  const ProfilePtr profile = made.finish();
  CHECK(profile->timeline()->spans.size() == 2);
  CHECK(list(profile->timeline()->spans.end) == Times{kNoTime, kNoTime});
}

TEST_CASE("the order of many samples is that of a stable sort") {
  std::mt19937 random(7);
  Made made;
  const ContextId f = made.at("f");
  std::vector<ThreadId> threads;
  for (std::int64_t tid = 0; tid < 7; ++tid) threads.push_back(made.thread(tid));
  for (int i = 0; i < 5000; ++i) {
    SampleContext where;
    if (random() % 9 != 0) where.thread = threads[random() % threads.size()];
    if (random() % 9 != 0) where.time = static_cast<std::int64_t>(random() % 50);
    made.sample(f, where);
  }
  const ProfilePtr profile = made.finish();
  const SampleTable& samples = *profile->samples();
  Ids rows(samples.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(samples.thread[a], samples.time[a]) < std::pair(samples.thread[b], samples.time[b]);
  });
  CHECK(list(profile->timeline()->samples.row) == rows);
}
