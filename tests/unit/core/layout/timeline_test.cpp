#include "core/layout/timeline.h"

#include <limits>
#include <memory>

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// Calls with their stacks, as a tracer writes them: "main;parse" from .. to.
class Trace {
 public:
  Trace() { builder_.add_metric("wall", "nanoseconds"); }

  Trace& call(std::initializer_list<const char*> stack, std::int64_t begin, std::int64_t end,
              const char* thread = "t") {
    builder_.timeline().add_span(
        {.begin = begin, .end = end, .context = context(stack), .thread = builder_.thread({.name = thread})});
    return *this;
  }
  Trace& task(const char* name, std::int64_t begin, std::int64_t end) {
    const TaskId task = builder_.timeline().add_task({.name = builder_.string(name)});
    builder_.timeline().add_span({.begin = begin, .end = end, .name = builder_.string(name), .task = task});
    return *this;
  }
  Trace& sample(std::initializer_list<const char*> stack, std::int64_t time, std::int64_t value,
                const char* thread = "t") {
    SampleContext where;
    where.thread = builder_.thread({.name = thread});
    where.time = time;
    builder_.add_sample(context(stack), std::span<const std::int64_t>(&value, 1), where);
    return *this;
  }
  ProfilePtr profile() { return std::move(builder_).finish().value(); }

 private:
  ContextId context(std::initializer_list<const char*> stack) {
    ContextId at = kRootContext;
    for (const char* name : stack)
      at = builder_.context(at, builder_.frame({.function = builder_.function(name)}));
    return at;
  }
  ProfileBuilder builder_;
};

struct Shown {
  std::string text;  // a line a box: "depth name begin..end", joined ones "depth 3 in begin..end"
  ChartLayout layout;
};

Shown show(const ProfilePtr& profile, const char* spec = "top-down", std::size_t at = 0,
           ChartRequest request = {}) {
  const auto selection = select(profile, *parse_view_spec(spec), {});
  REQUIRE(selection);
  const auto tracks = TimelineTracks::of(*selection, {});
  REQUIRE(tracks);
  const auto shared = std::make_shared<const TimelineTracks>(*tracks);
  if (request.to == 1) {
    request.from = shared->begin();
    request.to = shared->end();
    request.width_px = 1'000'000;
  }
  const auto chart =
      chart_of(*selection, shared, timeline_classes(**selection, {}).value(), shared->tracks().at(at), {});
  REQUIRE(chart);
  Shown out{"", layout_chart(**chart, request, {}).value()};
  for (std::size_t i = 0; i < out.layout.size(); ++i) {
    const auto& l = out.layout;
    out.text += std::to_string(l.depth[i]) + " ";
    if (l.count[i] > 1)
      out.text += std::to_string(l.count[i]) + " in";
    else if (l.key[i] != kNone)
      out.text += key_name(*profile, *(*selection)->boxes->keys, l.key[i]);
    else
      out.text += profile->strings()[l.name[i]];
    out.text += " " + std::to_string(l.begin[i]) + ".." + std::to_string(l.end[i]) +
                (l.open[i] != 0 ? " open" : "") + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("calls one after another are boxes of their own, and one that takes no time is a tick") {
  const ProfilePtr profile = Trace()
                                 .call({"main"}, 0, 100)
                                 .call({"main", "f"}, 10, 20)
                                 .call({"main", "f"}, 20, 30)
                                 .call({"main", "g"}, 40, 40)
                                 .profile();
  CHECK(show(profile).text == "0 main 0..100\n1 f 10..20\n1 f 20..30\n1 g 40..40\n");
}

TEST_CASE("a call whose end nobody saw lasts to the last event of its thread, and is marked") {
  const ProfilePtr profile = Trace()
                                 .call({"main"}, 0, kNoTime)
                                 .call({"main", "f"}, 10, 20)
                                 .call({"main", "g"}, 30, kNoTime)
                                 .call({"main", "g", "h"}, 35, 50)
                                 .profile();
  CHECK(show(profile).text == "0 main 0..50 open\n1 f 10..20\n1 g 30..50 open\n2 h 35..50\n");
}

TEST_CASE("calls that cross keep their length, in a lane") {
  const ProfilePtr profile =
      Trace().call({"a"}, 0, 50).call({"a", "b"}, 30, 80).call({"c"}, 60, 90).profile();
  const Shown shown = show(profile);
  CHECK(shown.text == "0 a 0..50\n0 c 60..90\n1 b 30..80\n");
  CHECK(shown.layout.rows == 1);
  CHECK(shown.layout.lanes == 1);
}

TEST_CASE("work of no thread lies in lanes, each in the first that is free; what finds none is counted") {
  const ProfilePtr some = Trace()
                              .task("load", 0, 100)
                              .task("draw", 50, 150)
                              .task("save", 100, 200)
                              .task("late", 300, kNoTime)
                              .profile();
  CHECK(show(some).text == "0 load 0..100\n0 save 100..200\n0 late 300..300 open\n1 draw 50..150\n");
  Trace many;
  for (int i = 0; i < 60; ++i) many.task("t", i, 1000);
  const auto selection = select(many.profile(), *parse_view_spec("top-down"), {}).value();
  const auto tracks = std::make_shared<const TimelineTracks>(TimelineTracks::of(selection, {}).value());
  const auto chart =
      chart_of(selection, tracks, timeline_classes(*selection, {}).value(), tracks->tracks()[0], {}).value();
  CHECK(chart->lanes.size() == kMaxLanes);
  CHECK(chart->no_lane == 10);
}

TEST_CASE("hidden and folded calls leave their room to what is inside of them") {
  const ProfilePtr profile = Trace()
                                 .call({"main"}, 0, 100)
                                 .call({"main", "lib"}, 10, 90)
                                 .call({"main", "lib", "f"}, 20, 40)
                                 .profile();
  CHECK(show(profile, "top-down | hide function lib").text == "0 main 0..100\n1 f 20..40\n");
  CHECK(show(profile, "top-down | collapse function /main|lib/").text == "0 /main|lib/ 0..100\n1 f 20..40\n");
}

TEST_CASE("a filter shows callers for as long as what it keeps runs") {
  const ProfilePtr profile = Trace()
                                 .call({"main"}, 0, 100)
                                 .call({"main", "f"}, 10, 40)
                                 .call({"main", "f", "x"}, 20, 30)
                                 .call({"main", "g"}, 50, 60)
                                 .profile();
  CHECK(show(profile, "top-down | keep function f").text == "0 main 10..40\n1 f 10..40\n2 x 20..30\n");
  CHECK(show(profile, "top-down | drop function f").text == "0 main 0..10\n0 main 40..100\n1 g 50..60\n");
}

TEST_CASE("samples are boxes as long as they have a call in common, and say what they hold") {
  const ProfilePtr profile = profile_from_text(
      "main;f 1 {time=0}\nmain;f;g 1 {time=10}\nmain;h 1 {time=20}\nmain;h 1 {time=30}\nmain;h 1 "
      "{time=300}\n");
  const Shown shown = show(profile);
  CHECK(shown.text == "0 main 0..50\n0 main 300..310\n1 f 0..20\n1 h 20..50\n1 h 300..310\n2 g 10..20\n");
  CHECK(shown.layout.value[0] == 4);
  CHECK(shown.layout.samples[0] == 4);
  REQUIRE(shown.layout.gap_begin.size() == 1);
  CHECK(shown.layout.gap_begin[0] == 50);
  CHECK(shown.layout.gap_end[0] == 300);
}

TEST_CASE("samples of another event are none of the metric") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cycles/count faults/count\nmain;f 5 0 {time=0}\nmain;p 0 1 {time=5}\nmain;f 5 0 "
      "{time=10}\n");
  CHECK(show(profile, "top-down | metric cycles").text == "0 main 0..20\n1 f 0..20\n");
  CHECK(show(profile, "top-down | metric faults").text == "0 main 5..5\n1 p 5..5\n");
}

TEST_CASE("calls of a tracer are drawn where their time is the metric, not the pieces of it") {
  const ProfilePtr profile = Trace()
                                 .call({"main"}, 0, 100)
                                 .call({"main", "f"}, 40, 60)
                                 .call({"main", "f"}, 60, 70)
                                 .sample({"main"}, 0, 40)
                                 .sample({"main", "f"}, 40, 20)
                                 .sample({"main", "f"}, 60, 10)
                                 .sample({"main"}, 70, 30)
                                 .profile();
  CHECK(show(profile).text == "0 main 0..100\n1 f 40..60\n1 f 60..70\n");
}

TEST_CASE("what only happened on a stack is no call of its own: the stack is drawn") {
  // A wait, as a recorder writes it: one event with a whole stack.
  const ProfilePtr profile = Trace()
                                 .call({"main", "run", "wait"}, 10, 30)
                                 .call({"main", "run", "wait"}, 50, 60)
                                 .sample({"main", "run", "wait"}, 10, 20)
                                 .sample({"main", "run", "wait"}, 50, 10)
                                 .profile();
  CHECK(show(profile).text ==
        "0 main 10..30\n0 main 50..60\n1 run 10..30\n1 run 50..60\n2 wait 10..30\n2 wait 50..60\n");
  CHECK(show(profile).layout.gap_begin.empty());
}

TEST_CASE("rows below too many boxes are counted") {
  Trace trace;
  for (int i = 0; i < 100; ++i) trace.call({"a"}, 10 * i, 10 * i + 10).call({"a", "b"}, 10 * i, 10 * i + 9);
  ChartRequest request;
  request.to = 1000;
  request.width_px = 10'000;
  request.max_boxes = 120;
  const Shown shown = show(trace.profile(), "top-down", 0, request);
  CHECK(shown.layout.size() == 100);
  CHECK(shown.layout.rows == 2);
  CHECK(shown.layout.rows_left_out == 1);
}

TEST_CASE("tracks are those with most first, and their load is what lies in each column") {
  const ProfilePtr profile = Trace()
                                 .sample({"f"}, 0, 30, "busy")
                                 .sample({"f"}, 40, 10, "busy")
                                 .sample({"g"}, 10, 5, "idle")
                                 .profile();
  const auto selection = select(profile, *parse_view_spec("top-down"), {}).value();
  const TimelineTracks tracks = TimelineTracks::of(selection, {}).value();
  REQUIRE(tracks.tracks().size() == 2);
  CHECK(tracks.begin() == 0);
  CHECK(tracks.end() == 50);
  CHECK(tracks.tracks()[0].total == 40);
  CHECK(tracks.load(tracks.tracks()[0], 0, 50, 5) == std::vector<double>{10, 10, 10, 0, 10});
  CHECK(tracks.load(tracks.tracks()[0], 5, 45, 2) == std::vector<double>{20, 10});
  CHECK(tracks.load(tracks.tracks()[1], 0, 50, 5) == std::vector<double>{0, 5, 0, 0, 0});
}

TEST_CASE("a profile without times has no timeline, and says so") {
  const auto reason = [](const ProfilePtr& profile) {
    return TimelineTracks::of(select(profile, *parse_view_spec("top-down"), {}).value(), {}).error().message;
  };
  CHECK(reason(profile_from_text("main;f 5")) == "the profile does not say when its samples were taken");
  Trace far;
  far.call({"a"}, std::numeric_limits<std::int64_t>::min() + 1, std::numeric_limits<std::int64_t>::max());
  CHECK(reason(far.profile()) == "the times of the profile lie too far apart to be drawn");
}
