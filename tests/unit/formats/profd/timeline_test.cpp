// Timelines in native files: written by others in any order, or damaged.
#include <functional>

#include "core/model/timeline_order.h"
#include "profd/profile.pb.h"
#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/unit/formats/profd/random_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// Two threads, two tasks, and two or more rows in every table of the timeline.
ProfilePtr small_profile() {
  ProfileBuilder b;
  b.info().format = "test";
  b.add_metric("samples", "count");
  const ContextId main = b.context(kRootContext, b.frame({.function = b.function("main")}));
  const ThreadId threads[] = {b.thread({.tid = 1}), b.thread({.tid = 2})};
  const std::int64_t one = 1;
  for (const std::int64_t time : {9, 5, 7})
    b.add_sample(main, {&one, 1},
                 {.thread = threads[time & 2 ? 1 : 0], .time = time, .state = ThreadState::running});
  TimelineBuilder& out = b.timeline();
  const TaskId parent = out.add_task({.name = b.string("load"), .begin = 1, .end = 9});
  const TaskId child =
      out.add_task({.name = b.string("parse"), .parent = parent, .context = main, .begin = 2});
  out.set_awaits(parent, child);
  out.add_span({.begin = 1, .end = 8, .context = main, .thread = threads[0]});
  out.add_span({.begin = 2, .end = 3, .name = b.string("step"), .thread = threads[1], .task = child});
  out.add_span({.begin = 2, .name = b.string("wait"), .task = parent});
  const Label size{b.string("size"), true, StringId{0u}, 12, StringId{0u}};
  out.add_marker(
      {.begin = 3, .end = 3, .name = b.string("gc"), .category = b.string("GC"), .thread = threads[0]});
  out.add_marker(
      {.begin = 1, .end = 2, .name = b.string("gc"), .context = main, .fields = b.label_set({&size, 1})});
  const CounterId memory = out.counter({.name = b.string("memory"), .unit = b.string("bytes")});
  const CounterId load =
      out.counter({.name = b.string("load"), .process = b.string("app"), .thread = threads[1]});
  for (const std::int64_t time : {1, 2, 3}) {
    out.add_point(memory, time, 10);
    out.add_point(load, time, 0.5);
  }
  return std::move(b).finish().value();
}

v1::File parsed(const ProfilePtr& profile) {
  v1::File file;
  REQUIRE(file.ParseFromString(write_to_string({profile})));
  file.clear_checksummed();
  file.clear_checksum();
  return file;
}

std::string refusal(const v1::File& file) {
  const auto opened = open_native(file.SerializeAsString());
  return opened ? "opened" : describe(opened.error());
}

using Damage = std::function<void(v1::Timeline&)>;

std::string with(const Damage& damage) {
  v1::File file = parsed(small_profile());
  damage(*file.mutable_profiles(0)->mutable_timeline());
  return refusal(file);
}

}  // namespace

TEST_CASE("a timeline is read back equal, and as protobuf's classes see it") {
  const ProfilePtr profile = small_profile();
  CHECK(difference(*open_one(write_to_string({profile})).value(), *profile) == "");
  const v1::File file = parsed(profile);
  CHECK(difference(*open_one(file.SerializeAsString()).value(), *profile) == "");
  const v1::Timeline& t = file.profiles(0).timeline();
  for (const google::protobuf::Message* m : {static_cast<const google::protobuf::Message*>(&t),
                                             static_cast<const google::protobuf::Message*>(&t.spans()),
                                             static_cast<const google::protobuf::Message*>(&t.markers()),
                                             static_cast<const google::protobuf::Message*>(&t.counters()),
                                             static_cast<const google::protobuf::Message*>(&t.tasks())})
    CHECK(m->GetReflection()->GetUnknownFields(*m).empty());
  CHECK(t.spans().begin_size() == 3);
  CHECK(t.spans().end(2) == kNoTime);
  CHECK(t.markers().label_set_size() == 2);
  CHECK(t.counters().first(2) == 6);
  CHECK(t.counters().value(5) == 0.5);
  CHECK(t.tasks().awaits(0) == 1);
  CHECK(t.sample_state() == std::string("\x01\x01\x01"));
}

TEST_CASE("what contradicts itself in a timeline is refused and named") {
  CHECK(with([](v1::Timeline&) {}) == "opened");
  const std::vector<std::pair<const char*, Damage>> cases{
      {"timeline.sample_row has 2 rows", [](auto& t) { t.mutable_sample_row()->RemoveLast(); }},
      {"timeline.sample_row[0] refers", [](auto& t) { t.set_sample_row(0, 3); }},
      {"timeline.sample_row[1] is not in order", [](auto& t) { t.set_sample_row(1, t.sample_row(0)); }},
      {"timeline.sample_row[1] is not in order", [](auto& t) { t.clear_sample_row(); }},
      {"timeline.sample_state[1]", [](auto& t) { (*t.mutable_sample_state())[1] = 3; }},
      {"timeline.sample_state has 4 rows", [](auto& t) { t.mutable_sample_state()->push_back(0); }},
      {"spans.end has 2 rows", [](auto& t) { t.mutable_spans()->mutable_end()->RemoveLast(); }},
      {"spans.begin[0] has no time", [](auto& t) { t.mutable_spans()->set_begin(0, kNoTime); }},
      {"spans.end[1] is before its begin", [](auto& t) { t.mutable_spans()->set_end(1, 1); }},
      {"spans.context[0] refers", [](auto& t) { t.mutable_spans()->set_context(0, 2); }},
      {"spans.context has 4 rows", [](auto& t) { t.mutable_spans()->add_context(0); }},
      {"spans.name[1] refers", [](auto& t) { t.mutable_spans()->set_name(1, 1000); }},
      {"spans.thread[1] refers", [](auto& t) { t.mutable_spans()->set_thread(1, 2); }},
      {"spans.task[1] refers", [](auto& t) { t.mutable_spans()->set_task(1, 2); }},
      {"spans[1] is not in order", [](auto& t) { t.mutable_spans()->set_thread(0, kNone); }},
      {"markers.name has 1 rows", [](auto& t) { t.mutable_markers()->mutable_name()->RemoveLast(); }},
      {"markers.end[1] is before", [](auto& t) { t.mutable_markers()->set_end(1, 0); }},
      {"markers.label_set[1] refers", [](auto& t) { t.mutable_markers()->set_label_set(1, 2); }},
      {"markers.label_set[0] refers", [](auto& t) { t.mutable_markers()->set_label_set(0, kNone); }},
      {"markers.category[0] refers", [](auto& t) { t.mutable_markers()->set_category(0, 1000); }},
      {"markers[1] is not in order", [](auto& t) { t.mutable_markers()->clear_thread(); }},
      {"counters.first has 2 rows", [](auto& t) { t.mutable_counters()->mutable_first()->RemoveLast(); }},
      {"do not end where their points end", [](auto& t) { t.mutable_counters()->set_first(2, 5); }},
      {"do not end where their points end", [](auto& t) { t.mutable_counters()->set_first(0, 1); }},
      {"counters.first[2] does not ascend", [](auto& t) { t.mutable_counters()->set_first(1, 7); }},
      {"counters.value has 5 rows", [](auto& t) { t.mutable_counters()->mutable_value()->RemoveLast(); }},
      {"counters.time[2] has no time", [](auto& t) { t.mutable_counters()->set_time(2, kNoTime); }},
      {"counters[1] has points", [](auto& t) { t.mutable_counters()->set_time(5, -1); }},
      {"counters has points and no names",
       [](auto& t) {
         t.mutable_counters()->Clear();
         t.mutable_counters()->add_first(0);
       }},
      {"counters.changes[1] has a value",
       [](auto& t) { t.mutable_counters()->set_changes(std::string("\x01\x02")); }},
      {"counters.changes has 1 rows", [](auto& t) { t.mutable_counters()->set_changes("\x01"); }},
      {"counters.thread[1] refers", [](auto& t) { t.mutable_counters()->set_thread(1, 2); }},
      {"tasks.parent[1] comes after", [](auto& t) { t.mutable_tasks()->set_parent(1, 1); }},
      {"tasks.awaits[0] refers", [](auto& t) { t.mutable_tasks()->set_awaits(0, 2); }},
      {"tasks.context[1] refers", [](auto& t) { t.mutable_tasks()->set_context(1, 2); }},
      {"tasks.end[0] is before", [](auto& t) { t.mutable_tasks()->set_end(0, 0); }},
      {"tasks.begin has 1 rows", [](auto& t) { t.mutable_tasks()->mutable_begin()->RemoveLast(); }},
  };
  for (const auto& [message, damage] : cases) CHECK_THAT(with(damage), Catch::Contains(message));
}

TEST_CASE("a table of a timeline comes once") {
  const v1::File file = parsed(small_profile());
  const v1::Timeline& t = file.profiles(0).timeline();
  v1::File twice = file;
  // Unknown to the classes: the field number of the message, once more.
  auto* unknown = twice.mutable_profiles(0)->mutable_timeline()->GetReflection()->MutableUnknownFields(
      twice.mutable_profiles(0)->mutable_timeline());
  unknown->AddLengthDelimited(v1::Timeline::kTasksFieldNumber, t.tasks().SerializeAsString());
  CHECK_THAT(refusal(twice), Catch::Contains("field 6 of a timeline comes twice"));
}

TEST_CASE("a file from before there were timelines has the order of its samples") {
  const ProfilePtr profile = small_profile();
  v1::File file = parsed(profile);
  file.mutable_profiles(0)->clear_timeline();
  const ProfilePtr old = open_one(file.SerializeAsString()).value();
  REQUIRE(old->timeline() != nullptr);
  const auto& rows = old->timeline()->samples.row;
  const auto& expected = profile->timeline()->samples.row;
  CHECK(std::equal(rows.begin(), rows.end(), expected.begin(), expected.end()));
  CHECK(old->timeline()->spans.size() == 0);
}

TEST_CASE("a loose profile's timeline comes in any order, with contexts of its own") {
  v1::File file;
  file.set_magic("profd profile");
  file.set_version(1);
  v1::Profile& p = *file.add_profiles();
  for (const char* text : {"", "main", "work", "tick"}) p.mutable_strings()->add_texts(text);
  for (unsigned name : {1u, 2u}) p.mutable_functions()->add_name(name);
  for (unsigned function : {1u, 0u}) p.mutable_frames()->add_function(function);
  p.add_metrics()->set_name("cpu");
  for (auto [parent, frame] : {std::pair{0u, 1u}, {0u, 0u}, {0u, 1u}}) {
    p.mutable_contexts()->add_parent(parent);
    p.mutable_contexts()->add_frame(frame);
  }
  for (unsigned context : {3u, 2u}) {
    p.mutable_samples()->add_context(context);
    p.mutable_samples()->add_time(10 - context);
  }
  for (int i = 0; i < 2; ++i) {
    if (i == 0) p.mutable_samples()->add_values();
    p.mutable_samples()->mutable_values(0)->add_ints(1);
  }
  v1::Timeline& t = *p.mutable_timeline();
  t.set_sample_state(std::string("\x02\x01"));
  for (auto [begin, context] : {std::pair{5, 3u}, {4, 2u}}) {
    t.mutable_spans()->add_begin(begin);
    t.mutable_spans()->add_end(9);
    t.mutable_spans()->add_context(context);
  }
  t.mutable_markers()->add_begin(1);
  t.mutable_markers()->add_end(1);
  t.mutable_markers()->add_name(3);
  t.mutable_tasks()->add_name(3);
  const auto opened = open_one(file.SerializeAsString());
  if (!opened) FAIL(describe(opened.error()));
  const Profile& profile = **opened;
  const Timeline& made = *profile.timeline();
  CHECK(made.spans.begin[0] == 4);
  const auto name_of = [&](std::uint32_t context) {
    return profile.function_name(profile.frames().function[profile.tree().frame[context]]);
  };
  CHECK(name_of(made.spans.context[0]) == "work");
  CHECK(name_of(made.spans.context[1]) == "main");
  CHECK(made.samples.state[0] == ThreadState::waiting);
  CHECK(made.samples.row.empty());
  CHECK(profile.strings()[made.markers.name[0]] == "tick");
  // Ids are looked at in loose profiles, too.
  t.mutable_spans()->set_context(1, 4);
  CHECK_THAT(refusal(file), Catch::Contains("spans.context[1] refers"));
  t.mutable_spans()->set_context(1, 2);
  t.mutable_tasks()->add_parent(0);
  CHECK_THAT(refusal(file), Catch::Contains("tasks.parent[0] comes after"));
}
