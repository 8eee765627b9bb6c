// Markers, counters and heat maps as clients get them.
#include "server/feature/markers_answer.h"

#include "core/model/profile_builder.h"
#include "server/feature/counters_answer.h"
#include "server/feature/heat_map_answer.h"
#include "server/feature/heat_map_svg.h"
#include "server/feature/timeline_answer.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::int64_t kMs = 1'000'000;

// A second of samples on a thread, every 10 ms; markers on it and on none, a counter of bytes.
ProfilePtr noted() {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  const ThreadId main = b.thread({.name = "main", .tid = 7});
  const ContextId context = b.context(kRootContext, b.frame({.function = b.function("<work>")}));
  for (std::int64_t i = 0; i < 100; ++i) {
    SampleContext where;
    where.thread = main;
    where.time = i * 10 * kMs;
    const std::vector<Value> values{std::int64_t{1}};
    b.add_sample(context, std::span<const Value>(values), where);
  }
  TimelineBuilder& out = b.timeline();
  const Label field{.key = b.string("size"), .is_number = true, .number = 2048, .unit = b.string("bytes")};
  out.add_marker({.begin = 100 * kMs,
                  .end = 300 * kMs,
                  .name = b.string("load"),
                  .thread = main,
                  .fields = b.label_set(std::span(&field, 1))});
  out.add_marker({.begin = 900 * kMs, .end = kNoTime, .name = b.string("save"), .thread = main});
  out.add_marker({.begin = 500 * kMs, .end = 500 * kMs, .name = b.string("tick")});
  const CounterId heap =
      out.counter({.name = b.string("heap"), .unit = b.string("bytes"), .process = b.string("app 1")});
  out.add_point(heap, 0, 1024);
  out.add_point(heap, 400 * kMs, 4096);
  const CounterId sent = out.counter({.name = b.string("sent"), .changes = true});
  out.add_point(sent, 10 * kMs, 5);
  out.add_point(sent, 600 * kMs, 2.5);
  return std::move(b).finish().value();
}

}  // namespace

TEST_CASE("markers: a table has moments, lengths and fields as people read them") {
  Viewed viewed(noted());
  MarkersRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  const auto answer = markers_answer(viewed.views, request, {});
  REQUIRE(answer);
  CHECK(answer->text == "3 markers, 200 ms in all, 1 without an end");
  REQUIRE(answer->table);
  const MarkerRows& rows = *answer->table;
  CHECK(rows.name == std::vector<std::string>{"load", "tick", "save"});
  CHECK(rows.thread == std::vector<std::string>{"main 7", "", "main 7"});
  CHECK(rows.length_text == std::vector<std::string>{"200 ms", "", "90.0 ms or more"});
  CHECK(rows.flags == std::vector<std::uint32_t>{0, 0, timeline_flag::kOpen});
  REQUIRE(rows.fields[0].size() == 1);
  CHECK(rows.fields[0][0].text == "2.00 KiB");
  request.by_name = true;
  request.limit = 1;
  const auto names = markers_answer(viewed.views, request, {});
  REQUIRE(names);
  CHECK(names->rows == 3);
  CHECK(names->groups->name == std::vector<std::string>{"load"});
  CHECK(names->groups->mean_text == std::vector<std::string>{"200 ms"});
}

TEST_CASE("markers: filters of the view hold for them, too") {
  Viewed viewed(noted());
  const auto n_of = [&](const char* spec) {
    MarkersRequest request;
    request.open = viewed.open;
    request.spec = spec_from(spec);
    return markers_answer(viewed.views, request, {})->matches;
  };
  CHECK(n_of("top-down | thread main") == 2);
  CHECK(n_of("top-down | time 200ms..250ms") == 1);
  CHECK(n_of("top-down | marker load") == 1);
}

TEST_CASE("markers: tracks are by thread, and say what is left out") {
  Viewed viewed(noted());
  MarkerTracksRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  const auto answer = marker_tracks_answer(viewed.views, request, {});
  REQUIRE(answer);
  REQUIRE(answer->tracks.size() == 2);
  CHECK(answer->tracks[0].name == "main 7");
  CHECK(answer->tracks[0].filter == "thread main");
  CHECK(answer->tracks[0].boxes.text[0] == "200 ms; size: 2.00 KiB");
  CHECK(answer->tracks[1].name == "No thread");
  CHECK(answer->left_text.empty());
  request.max_tracks = 1;
  CHECK(marker_tracks_answer(viewed.views, request, {})->left_text == "1 track more with 1 marker");
  request.from = request.to = 5;
  CHECK_FALSE(marker_tracks_answer(viewed.views, request, {}));
}

TEST_CASE("counters: values have their unit, changes are summed up, and names are searched for") {
  Viewed viewed(noted());
  CountersRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  const auto answer = counters_answer(viewed.views, request, {});
  REQUIRE(answer);
  REQUIRE(answer->counters.size() == 2);
  const CountersAnswer::Counter &sent = answer->counters[0], &heap = answer->counters[1];
  CHECK(sent.name == "sent");
  CHECK(sent.sums);
  CHECK(sent.points.last == std::vector<double>{5, 7.5});
  CHECK(heap.owner == "app 1");
  CHECK(heap.low_text == "1.00 KiB");
  CHECK(heap.last_text == "4.00 KiB");
  request.search = "APP";
  request.from = 500 * kMs;
  const auto found = counters_answer(viewed.views, request, {});
  REQUIRE(found->counters.size() == 1);
  // What holds as the window begins holds in it.
  CHECK(found->counters[0].points.before == 4096);
  CHECK(found->counters[0].low == 4096);
  request.search.clear();
  request.limit = 1;
  CHECK(counters_answer(viewed.views, request, {})->left_text == "1 counter more, from heap on");
}

TEST_CASE("heat map: cells have texts, a cell is a filter, and a page escapes what it is given") {
  Viewed viewed(noted());
  HeatMapAsked request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  request.grid.column = 200 * kMs;
  request.grid.rows = 4;
  const auto answer = heat_map_answer(viewed.views, request, {});
  REQUIRE(answer);
  CHECK(answer->columns == 5);
  CHECK(answer->row_text == "50.0 ms");
  CHECK(answer->full_text == "5");
  CHECK(answer->held.share_text == "100 %");
  CHECK(answer->texts[answer->text[0]] == "5");
  CHECK(heat_map_filter(*answer, 5, 2) == "time 100ms..300ms");
  const std::string page = heat_map_svg(*answer, "<b>&.pprof");
  CHECK(page.find("&lt;b&gt;&amp;.pprof") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("time 0s..50ms") != std::string::npos);
}
