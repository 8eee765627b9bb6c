#include "core/view/marker_table.h"

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

using Ids = std::vector<std::uint32_t>;

// Four markers on two threads, one of no thread, one open; and an asynchronous operation.
ProfilePtr browser() {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  const ThreadId ui = b.thread({.name = "Main", .process_name = "content", .tid = 7, .pid = 70});
  const ThreadId io = b.thread({.name = "IO", .process_name = "parent", .tid = 8, .pid = 80});
  const auto fields = [&](const char* key, const char* text) {
    const Label label{.key = b.string(key), .text = b.string(text)};
    return b.label_set(std::span(&label, 1));
  };
  const Label bytes{.key = b.string("size"), .is_number = true, .number = 4096, .unit = b.string("bytes")};
  TimelineBuilder& out = b.timeline();
  out.add_marker({.begin = 10,
                  .end = 30,
                  .name = b.string("GCMajor"),
                  .category = b.string("GC / CC"),
                  .thread = ui,
                  .fields = fields("reason", "ALLOC_TRIGGER")});
  out.add_marker(
      {.begin = 40, .end = 45, .name = b.string("GCMinor"), .category = b.string("GC / CC"), .thread = ui});
  out.add_marker({.begin = 50,
                  .end = 50,
                  .name = b.string("DOMEvent"),
                  .category = b.string("DOM"),
                  .thread = ui,
                  .fields = fields("Type", "mouse up")});
  out.add_marker({.begin = 20,
                  .end = kNoTime,
                  .name = b.string("Load"),
                  .thread = io,
                  .fields = b.label_set(std::span(&bytes, 1))});
  out.add_marker({.begin = 5, .end = 6, .name = b.string("VSync")});
  const TaskId task = out.add_task({.name = b.string("fetch")});
  out.add_span({.begin = 60, .end = 100, .name = b.string("fetch https://a.b/c"), .task = task});
  return std::move(b).finish().value();
}

Result<Ids> found_by(const ProfilePtr& profile, const std::string& search) {
  PROFD_TRY(MarkerQuery query, MarkerSearch::parse(search).map([](MarkerSearch parsed) {
    return MarkerQuery{std::move(parsed), 0, {}, {}};
  }));
  PROFD_TRY(const FoundMarkers found, find_markers(*profile, Markers::of(*profile), query, {}, 101, {}));
  return found.ids;
}

std::vector<std::string> names_of(const ProfilePtr& profile, const Ids& ids) {
  const Markers markers = Markers::of(*profile);
  std::vector<std::string> out;
  for (const std::uint32_t id : ids) out.emplace_back(profile->strings()[markers.name(id)]);
  return out;
}

std::vector<std::string> named(const ProfilePtr& profile, const std::string& search) {
  const auto ids = found_by(profile, search);
  REQUIRE(ids);
  return names_of(profile, *ids);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a search for markers is of names, categories and fields, whatever their case") {
  const ProfilePtr profile = browser();
  CHECK(named(profile, "").size() == 6);
  CHECK(named(profile, "gcm") == Names{"GCMajor", "GCMinor"});
  CHECK(named(profile, "dom") == Names{"DOMEvent"});
  CHECK(named(profile, "alloc") == Names{"GCMajor"});
  CHECK(named(profile, "gc -major") == Names{"GCMinor"});
  CHECK(named(profile, "/^gc.*r$/ minor") == Names{"GCMinor"});
  CHECK(named(profile, "\"mouse up\"") == Names{"DOMEvent"});
  CHECK(named(profile, "4096") == Names{"Load"});
  CHECK(named(profile, "nothing").empty());
}

TEST_CASE("a word with a key is of that alone") {
  const ProfilePtr profile = browser();
  CHECK(named(profile, "name:gc") == Names{"GCMajor", "GCMinor"});
  CHECK(named(profile, "category:dom") == Names{"DOMEvent"});
  CHECK(named(profile, "name:dom category:gc").empty());
  CHECK(named(profile, "thread:io") == Names{"Load"});
  CHECK(named(profile, "thread:7 name:major") == Names{"GCMajor"});
  CHECK(named(profile, "process:parent") == Names{"Load"});
  CHECK(named(profile, "type:mouse") == Names{"DOMEvent"});
  CHECK(named(profile, "type:\"mouse up\"") == Names{"DOMEvent"});
  CHECK(named(profile, "reason:/^alloc/") == Names{"GCMajor"});
  CHECK(named(profile, "size:\"4096 bytes\"") == Names{"Load"});
  // What only looks like a key is a text.
  CHECK(named(profile, "https://a.b") == Names{"fetch https://a.b/c"});
  CHECK(named(profile, "\"name:gc\"").empty());
}

TEST_CASE("a search that cannot be read says why") {
  CHECK(MarkerSearch::parse("\"open").error().message == "search: a quote is not closed");
  CHECK(MarkerSearch::parse("/(/").error().message.find("the regular expression is not valid") == 0);
  std::string many;
  for (int i = 0; i < 21; ++i) many += " x" + std::to_string(i);
  CHECK(MarkerSearch::parse(many).error().code == ErrorCode::limit);
}

TEST_CASE("markers are those that are long enough and reach into a window") {
  const ProfilePtr profile = browser();
  const Markers markers = Markers::of(*profile);
  const auto found = [&](MarkerQuery query) {
    const auto made = find_markers(*profile, markers, query, {}, 101, {});
    REQUIRE(made);
    return *made;
  };
  const FoundMarkers all = found({});
  CHECK(all.ids.size() == 6);
  CHECK(all.n_open == 1);
  CHECK(all.length == 20 + 5 + 0 + 1 + 40);
  // The open one lasts to the end.
  CHECK(names_of(profile, found({.min_length = 30}).ids) == Names{"Load", "fetch https://a.b/c"});
  // What ends as the window begins is not in it, what takes no time is where it begins.
  CHECK(names_of(profile, found({.from = 45, .to = 60}).ids) == Names{"DOMEvent", "Load"});
  CHECK(names_of(profile, found({.from = 50, .to = 51}).ids) == Names{"DOMEvent", "Load"});
  CHECK(names_of(profile, found({.from = 0, .to = 10}).ids) == Names{"VSync"});
}

TEST_CASE("markers are sorted as far as they are shown") {
  const ProfilePtr profile = browser();
  const Markers markers = Markers::of(*profile);
  const auto sorted = [&](MarkerOrder order, bool descending, std::size_t n) {
    Ids ids = *found_by(profile, "");
    sort_markers(*profile, markers, ids, order, descending, n, 101);
    ids.resize(n);
    return names_of(profile, ids);
  };
  CHECK(sorted(MarkerOrder::begin, false, 3) == Names{"VSync", "GCMajor", "Load"});
  CHECK(sorted(MarkerOrder::length, true, 3) == Names{"Load", "fetch https://a.b/c", "GCMajor"});
  CHECK(sorted(MarkerOrder::name, false, 2) == Names{"DOMEvent", "GCMajor"});
  CHECK(sorted(MarkerOrder::thread, true, 4) == Names{"GCMajor", "GCMinor", "DOMEvent", "Load"});
}

TEST_CASE("names are counted, and summed up where they took time") {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  for (const std::int64_t length : {4, 0, 8}) {
    b.timeline().add_marker({.begin = 10 * length, .end = 11 * length, .name = b.string("paint")});
    b.timeline().add_marker(
        {.begin = length, .end = length, .name = b.string("tick"), .category = b.string("c")});
  }
  b.timeline().add_marker({.begin = 3, .end = kNoTime, .name = b.string("paint")});
  const ProfilePtr profile = std::move(b).finish().value();
  const Markers markers = Markers::of(*profile);
  const Ids ids = *found_by(profile, "");
  const auto groups = group_markers(*profile, markers, ids, MarkerOrder::length, true, {});
  REQUIRE(groups);
  REQUIRE(groups->size() == 2);
  const MarkerGroup& paint = (*groups)[0];
  CHECK(profile->strings()[paint.name] == "paint");
  CHECK(paint.count == 4);
  CHECK(paint.first == 0);
  CHECK(paint.length == 12);
  CHECK(paint.most == 8);
  CHECK(paint.mean() == 6);
  const MarkerGroup& tick = (*groups)[1];
  CHECK(profile->strings()[tick.category] == "c");
  CHECK(tick.count == 3);
  CHECK(tick.n_long == 0);
  const auto by_count = group_markers(*profile, markers, ids, MarkerOrder::count, false, {});
  REQUIRE(by_count);
  CHECK(profile->strings()[(*by_count)[0].name] == "tick");
}

TEST_CASE("a profile without times has no markers") {
  ProfileBuilder b;
  b.add_metric("samples", "count");
  const ProfilePtr profile = std::move(b).finish().value();
  CHECK(Markers::of(*profile).size() == 0);
  CHECK(recorded_time(*profile, {}).error().code == ErrorCode::invalid);
}
