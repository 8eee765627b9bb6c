#include "core/model/rewrite.h"

#include <array>
#include <limits>
#include <map>

#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string_view name_of(const Profile& profile, std::uint32_t frame) {
  return profile.function_name(profile.frames().function[frame]);
}

std::string path_of(const Profile& profile, std::uint32_t context) {
  std::string path;
  for (; context != 0; context = profile.tree().parent[context]) {
    const std::uint32_t frame = profile.tree().frame[context];
    std::string step(name_of(profile, frame));
    if (profile.frames().inlined[frame] != 0) step += "*";
    path = step + (path.empty() ? "" : ";") + path;
  }
  return path;
}

// Self values of the first metric by path; what was inlined has a star.
using Paths = std::map<std::string, std::int64_t>;
Paths paths_of(const Profile& profile) {
  Paths out;
  const SelfTable& self = profile.self();
  const auto& values = std::get<Column<std::int64_t>>(self.values[0]);
  for (std::size_t row = 0; row < self.contexts.size(); ++row)
    out[path_of(profile, self.contexts[row])] += values[row];
  return out;
}

ProfilePtr rewritten(const Profile& profile, const Rewrite& how) {
  auto out = rewrite(profile, how);
  if (!out) FAIL(out.error().message);
  return *out;
}

auto by_name(std::function<void(std::string_view, RewriteTables&, StandIns&, FrameId)> map) {
  return [map = std::move(map)](FrameId frame, RewriteTables& tables, StandIns& out) -> Result<void> {
    map(name_of(tables.source(), frame.v), tables, out, frame);
    return {};
  };
}

// main -> alloc, main -> use -> read; a record of each of (alloc, read), (alloc, use), (none, alloc).
ProfilePtr with_records() {
  ProfileBuilder builder;
  add_text(builder, "main;alloc 5 {thread=a}\nmain;use;read 7 {thread=b}\nmain;use 1 {thread=b}\n");
  const auto at = [&](std::initializer_list<const char*> names) {
    ContextId context = kRootContext;
    for (const char* name : names)
      context = builder.context(context, builder.frame({.function = builder.function(name)}));
    return context.v;
  };
  const std::uint32_t alloc = at({"main", "alloc"}), use = at({"main", "use"}),
                      read = at({"main", "use", "read"});
  AssociationTable table;
  table.name = "reuse";
  table.roles = {"allocation", "use"};
  table.contexts = {Column<std::uint32_t>(std::vector<std::uint32_t>{alloc, alloc, kNone}),
                    Column<std::uint32_t>(std::vector<std::uint32_t>{read, use, alloc})};
  table.metrics = {{"distance", "bytes"}};
  table.values = {Column<std::int64_t>(std::vector<std::int64_t>{10, 20, 30})};
  builder.add_association(std::move(table));
  return std::move(builder).finish().value();
}

std::vector<std::string> records_of(const Profile& profile) {
  std::vector<std::string> out;
  for (const AssociationTable& table : profile.associations()) {
    const auto& values = std::get<Column<std::int64_t>>(table.values[0]);
    for (std::size_t row = 0; row < table.size(); ++row) {
      std::string text = table.name;
      for (const auto& role : table.contexts)
        text += " " + (role[row] == kNone ? "-" : path_of(profile, role[row]));
      out.push_back(text + " " + std::to_string(values[row]));
    }
  }
  return out;
}

// 1 for contexts whose path has this function.
std::vector<std::uint8_t> contexts_with(const Profile& profile, std::string_view name) {
  std::vector<std::uint8_t> out(profile.tree().size(), 0);
  for (std::uint32_t c = 1; c < out.size(); ++c)
    out[c] = out[profile.tree().parent[c]] | (name_of(profile, profile.tree().frame[c]) == name ? 1 : 0);
  return out;
}

}  // namespace

TEST_CASE("a rewrite of nothing that keeps everything gives the same profile") {
  const auto profile = profile_from_text(
      "# metrics: cpu/ns alloc/bytes\n"
      "main[m.cc:1 module=app start=1];parse[p.cc:7 inlined];read[r.cc:2 kind=kernel address=0x10] 30 1 "
      "{thread=w time=5 label:env=prod label:size=64}\n"
      "main[m.cc:1 module=app start=1] 3 0 {thread=v time=2}\n"
      "zero[z.cc:1] 0 0 {thread=v time=9}\n(root) 4 4\n");
  Rewrite how;
  how.everything = true;
  CHECK(difference(*profile, *rewritten(*profile, how)) == "");
  CHECK(difference(*with_records(), *rewritten(*with_records(), how)) == "");
}

TEST_CASE("a frame without stand-ins leaves its value to its caller") {
  const auto profile = profile_from_text("main;lib;work 3\nmain;lib 2\nlib 7\nmain 1\n");
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name != "lib") out.frames.push_back(tables.copy(frame));
  });
  CHECK(paths_of(*rewritten(*profile, how)) == Paths{{"", 7}, {"main", 3}, {"main;work", 3}});
}

TEST_CASE("an address becomes the functions that were inlined there") {
  const auto profile = profile_from_text("main;0x10 3\nmain;0x10;leaf[l.cc:1 inlined] 2\n0x10 1\n");
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name != "0x10") {
      out.frames.push_back(tables.copy(frame));
      return;
    }
    out.frames.push_back(tables.frame({.function = tables.function("outer", "o.cc"), .line = 3}));
    out.frames.push_back(tables.frame({.function = tables.function("inner", "i.h"), .inlined = true}));
  });
  const auto out = rewritten(*profile, how);
  CHECK(paths_of(*out) ==
        Paths{{"main;outer;inner*", 3}, {"main;outer;inner*;leaf*", 2}, {"outer;inner*", 1}});
  for (std::uint32_t i = 0; i < out->strings().size(); ++i) CHECK(out->strings()[StringId{i}] != "0x10");
}

TEST_CASE("runs fold into their outermost frame, across hidden ones") {
  const auto profile = profile_from_text("a;a;b;a 1\na;h;a 2\na;b;b 4\n");
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name != "h") out.frames.push_back(tables.copy(frame));
  });
  for (std::uint32_t f = 0; f < profile->frames().size(); ++f)
    how.run_of.push_back(name_of(*profile, f) == "a" ? 1 : kNone);
  CHECK(paths_of(*rewritten(*profile, how)) == Paths{{"a;b;a", 1}, {"a", 2}, {"a;b;b", 4}});
}

TEST_CASE("what was inlined into a frame that is gone is inlined no more") {
  const auto profile = profile_from_text(
      "main;gone;in[i.cc:1 inlined] 1\nmain;in[i.cc:1 inlined] 2\nmain;group;in[i.cc:1 inlined] 4\n"
      "in[i.cc:1 inlined] 8\n");
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name == "gone") return;
    out.merged = name == "group";
    out.frames.push_back(tables.copy(frame));
  });
  CHECK(paths_of(*rewritten(*profile, how)) ==
        Paths{{"main;in", 1}, {"main;in*", 2}, {"main;group;in", 4}, {"in*", 8}});
}

TEST_CASE("only what passes is in the tables of a filtered rewrite") {
  const auto profile = profile_from_text("main[m.cc:1];secret[s.cc:1 module=hidden.so] 3\nmain[m.cc:1] 4\n");
  Rewrite how;
  how.contexts = contexts_with(*profile, "secret");
  for (auto& passes : how.contexts) passes = passes == 0 ? 1 : 0;
  const auto out = rewritten(*profile, how);
  CHECK(paths_of(*out) == Paths{{"main", 4}});
  CHECK(out->frames().size() == 1);
  CHECK(out->modules().size() == 0);
  CHECK(out->n_samples() == 1);
  for (std::uint32_t i = 0; i < out->strings().size(); ++i) CHECK(out->strings()[StringId{i}] != "secret");
}

TEST_CASE("values beside the samples pass unless samples are all that is asked for") {
  ProfileBuilder builder;
  add_text(builder, "main;work 5 {thread=a}\n");
  const FrameId main = builder.frame({.function = builder.function("main")});
  builder.add_self(builder.context(kRootContext, main), MetricId{0u}, std::int64_t{9});
  const auto profile = std::move(builder).finish().value();
  Rewrite how;
  CHECK(paths_of(*rewritten(*profile, how)) == Paths{{"main", 9}, {"main;work", 5}});
  how.unsampled = false;
  CHECK(paths_of(*rewritten(*profile, how)) == Paths{{"main;work", 5}});
}

TEST_CASE("records follow their contexts") {
  const auto profile = with_records();
  REQUIRE(records_of(*profile) == std::vector<std::string>{"reuse main;alloc main;use;read 10",
                                                           "reuse main;alloc main;use 20",
                                                           "reuse - main;alloc 30"});
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name == "use") return;
    if (name == "read")
      out.frames.push_back(tables.frame({.function = tables.function("load")}));
    else
      out.frames.push_back(tables.copy(frame));
  });
  CHECK(records_of(*rewritten(*profile, how)) == std::vector<std::string>{"reuse main;alloc main;load 10",
                                                                          "reuse main;alloc main 20",
                                                                          "reuse - main;alloc 30"});
}

TEST_CASE("a record lacks the contexts that do not pass, and is gone when none does") {
  const auto profile = with_records();
  Rewrite how;
  how.contexts = contexts_with(*profile, "use");
  CHECK(records_of(*rewritten(*profile, how)) ==
        std::vector<std::string>{"reuse - main;use;read 10", "reuse - main;use 20"});
  // Records have no threads: where one is asked for, what lies above its samples passes.
  how = {};
  for (std::size_t row = 0; row < profile->samples()->size(); ++row)
    how.samples.push_back(path_of(*profile, profile->samples()->context[row]) == "main;use;read" ? 1 : 0);
  CHECK(records_of(*rewritten(*profile, how)) ==
        std::vector<std::string>{"reuse - main;use;read 10", "reuse - main;use 20"});
  how.samples.assign(how.samples.size(), 0);
  CHECK(records_of(*rewritten(*profile, how)).empty());
}

TEST_CASE("sums that meet saturate") {
  const auto profile = profile_from_text("a;b 9223372036854775807\na;c 9223372036854775807\n");
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name == "a") out.frames.push_back(tables.copy(frame));
  });
  const auto out = rewritten(*profile, how);
  CHECK(paths_of(*out) == Paths{{"a", std::numeric_limits<std::int64_t>::max()}});
}

TEST_CASE("a rewrite fails as its map fails, and stops when told to") {
  const auto profile = profile_from_text("a;b 1\n");
  Rewrite how;
  how.frames = [](FrameId, RewriteTables&, StandIns&) -> Result<void> {
    return fail(ErrorCode::invalid, "no");
  };
  CHECK(rewrite(*profile, how).error().message == "no");
  StopSource source;
  source.request_stop();
  CHECK(rewrite(*profile, {}, StopToken(source)).error().code == ErrorCode::cancelled);
}

namespace {

// main -> work -> inner: a span of each in thread 1, in time one within the other; beside them a span by name
// of a task, a marker with a context, two counters.
ProfilePtr with_timeline() {
  ProfileBuilder b;
  b.info().format = "test";
  b.add_metric("samples", "count");
  ContextId at = kRootContext;
  TimelineBuilder& out = b.timeline();
  const ThreadId one = b.thread({.tid = 1}), two = b.thread({.tid = 2});
  const std::int64_t value = 1;
  const TaskId parent = out.add_task({.name = b.string("parent")});
  const TaskId task = out.add_task({.name = b.string("task"), .parent = parent});
  out.add_task({.name = b.string("idle")});
  std::int64_t begin = 0;
  for (const char* name : {"main", "work", "inner"}) {
    at = b.context(at, b.frame({.function = b.function(name)}));
    b.add_sample(at, {&value, 1}, {.thread = one, .time = begin, .state = ThreadState::running});
    out.add_span({.begin = begin, .end = 90 - begin, .context = at, .thread = one});
    begin += 10;
  }
  out.add_span({.begin = 50, .end = 60, .name = b.string("step"), .thread = two, .task = task});
  const Label label{b.string("size"), true, StringId{0u}, 12, StringId{0u}};
  out.add_marker({.begin = 70,
                  .end = 70,
                  .name = b.string("gc"),
                  .thread = two,
                  .context = at,
                  .fields = b.label_set({&label, 1})});
  const CounterId memory = out.counter({.name = b.string("memory"), .thread = two});
  out.add_point(memory, 5, 1);
  out.add_point(memory, 65, 2);
  out.add_point(out.counter({.name = b.string("early"), .thread = two}), 5, 1);
  return std::move(b).finish().value();
}

// What the spans of a profile are called, in order.
std::vector<std::string> spans_of(const Profile& profile) {
  std::vector<std::string> out;
  const SpanTable& spans = profile.timeline()->spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t context = value_or(spans.context, row, kNone);
    out.push_back(context == kNone ? std::string(profile.strings()[spans.name[row]])
                                   : path_of(profile, context));
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a rewrite of nothing keeps the timeline") {
  const ProfilePtr profile = with_timeline();
  Rewrite how;
  how.everything = true;
  CHECK(difference(*rewritten(*profile, how), *profile) == "");
  CHECK(rewritten(*profile, {})->timeline()->tasks.size() == 3);
}

TEST_CASE("a renamed frame takes its spans along, a hidden or folded one has none") {
  const ProfilePtr profile = with_timeline();
  Rewrite how;
  how.frames = by_name([](std::string_view name, RewriteTables& tables, StandIns& out, FrameId frame) {
    if (name == "work") return;
    if (name == "inner")
      out.frames.push_back(tables.frame({.function = tables.function("renamed")}));
    else
      out.frames.push_back(tables.copy(frame));
  });
  CHECK(spans_of(*rewritten(*profile, how)) == Names{"main", "main;renamed", "step"});
  Rewrite folds;
  folds.run_of.assign(profile->frames().size(), 0);
  CHECK(spans_of(*rewritten(*profile, folds)) == Names{"main", "step"});
}

TEST_CASE("spans of contexts that do not pass are gone, what is on no stack stays") {
  const ProfilePtr profile = with_timeline();
  Rewrite how;
  how.contexts.assign(profile->tree().size(), 0);
  how.contexts[2] = 1;
  const ProfilePtr out = rewritten(*profile, how);
  const Timeline& t = *out->timeline();
  CHECK(spans_of(*out) == Names{"main;work", "step"});
  CHECK(t.markers.size() == 1);
  CHECK(value_or(t.markers.context, 0, kNone) == kNone);
  CHECK(t.counters.n_points() == 3);
  // The task of the span and its parent; the one that nothing is a step of is gone.
  CHECK(t.tasks.size() == 2);
  CHECK(t.tasks.parent[1] == 0);
  CHECK(out->strings()[t.tasks.name[t.spans.task[1]]] == "task");
  CHECK(t.samples.state[0] == ThreadState::running);
}

TEST_CASE("moments decide on spans, markers and points of counters") {
  const ProfilePtr profile = with_timeline();
  Rewrite how;
  how.moments = [](std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    return thread == 1 && begin >= 60 && end <= 80;
  };
  const ProfilePtr out = rewritten(*profile, how);
  const Timeline& t = *out->timeline();
  CHECK(t.spans.size() == 0);
  CHECK(t.tasks.size() == 0);
  REQUIRE(t.markers.size() == 1);
  CHECK(path_of(*out, t.markers.context[0]) == "main;work;inner");
  CHECK(out->labels().number[out->labels().first[t.markers.label_set[0]]] == 12);
  REQUIRE(t.counters.size() == 1);
  CHECK(out->strings()[t.counters.name[0]] == "memory");
  CHECK(t.counters.value[0] == 2);
}
