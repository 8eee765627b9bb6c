// Markers and counters of Firefox profiles: docs/formats/firefox.md in examples.
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr auto kTables =
    R"js("stringArray":["f","GC","Load","Idle"],"funcTable":{"name":[0]},"frameTable":{"func":[0],"category":[0]},
  "stackTable":{"frame":[0],"prefix":[null]},"samples":{"stack":[0],"time":[1]},)js";

ReadOutcome firefox_profile(const std::string& markers, const std::string& more = "") {
  return read_with(
      "firefox",
      R"js({"meta":{"interval":1,"preprocessedProfileVersion":50,"categories":[{"name":"Idle"},{"name":"GC / CC"}]},
    "libs":[],"threads":[{"name":"t","pid":"7","tid":8,"processName":"Web",)js" +
          std::string(kTables) + R"("markers":)" + markers + "}]" + more + "}");
}

std::string said_by(const Profile& profile, StringId id) {
  return std::string(profile.strings()[id]);
}

}  // namespace

TEST_CASE("firefox: markers of every phase, starts with the ends of their name") {
  const auto read = firefox_profile(R"js({"name":[1,2,2,2,1,0,0],"startTime":[1,2,3,null,null,5,null],
    "endTime":[null,6,null,9,4,null,null],"phase":[0,1,2,3,3,2,0],"category":[1,0,0,0,0,0,0],
    "data":[{"type":"GC","cause":{"stack":0,"time":1},"ms":2.5},null,{"type":"L"},{"more":1},null,null,null]})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const MarkerTable& m = profile.timeline()->markers;
  // The instant, the interval, the pair, and the start that nobody ended.
  REQUIRE(m.size() == 4);
  CHECK(std::vector(m.begin.begin(), m.begin.end()) ==
        std::vector<std::int64_t>{1'000'000, 2'000'000, 3'000'000, 5'000'000});
  CHECK(std::vector(m.end.begin(), m.end.end()) ==
        std::vector<std::int64_t>{1'000'000, 6'000'000, 9'000'000, kNoTime});
  CHECK(said_by(profile, m.name[0]) == "GC");
  CHECK(said_by(profile, m.category[0]) == "GC / CC");
  CHECK(path_of(profile, m.context[0]) == "f");
  CHECK(m.context[1] == kNone);
  CHECK(profile.labels().first[m.label_set[0] + 1] - profile.labels().first[m.label_set[0]] == 2);
  CHECK(n_reported(read, "marker-without-start") == 1);
  CHECK(n_reported(read, "marker-without-time") == 1);
  CHECK(profile.timeline()->samples.state[0] == ThreadState::waiting);
}

TEST_CASE("firefox: markers of old files have their times in their data") {
  const auto read =
      firefox_profile(R"js({"name":[1,2,2,0],"time":[1,2,3,4],"data":[{"startTime":5,"endTime":7},
    {"type":"tracing","interval":"start"},{"type":"tracing","interval":"end"},null]})js");
  REQUIRE(read.error.empty());
  const MarkerTable& m = read.profiles.at(0)->timeline()->markers;
  REQUIRE(m.size() == 3);
  CHECK(std::vector(m.begin.begin(), m.begin.end()) ==
        std::vector<std::int64_t>{2'000'000, 4'000'000, 5'000'000});
  CHECK(std::vector(m.end.begin(), m.end.end()) ==
        std::vector<std::int64_t>{3'000'000, 4'000'000, 7'000'000});
}

TEST_CASE("firefox: counters of one name stay two, groups and deltas of time are read") {
  const auto read = firefox_profile(
      R"js({"name":[]})js",
      R"js(,"counters":[{"name":"malloc","pid":"7","samples":{"timeDeltas":[1,2],"count":[10,-3]}},
    {"name":"malloc","pid":"7","sampleGroups":[{"id":0,"samples":{"time":[5],"count":[1]}}]},{"name":"empty","pid":"9"}])js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const CounterTable& c = profile.timeline()->counters;
  REQUIRE(c.size() == 3);
  CHECK(said_by(profile, c.name[0]) == "malloc");
  CHECK(said_by(profile, c.process[0]) == "Web (7)");
  CHECK(said_by(profile, c.name[1]) == "malloc [1]");
  CHECK(c.first[1] == 2);
  CHECK(c.time[1] == 3'000'000);
  CHECK(c.value[1] == -3);
  CHECK(c.changes[0] == 1);
}

TEST_CASE("firefox: markers and counters of Gecko's rows, in the time of their process") {
  const auto read = read_with(
      "firefox", R"js({"meta":{"interval":1,"version":20,"processType":0,"startTime":1000},"libs":[],
    "threads":[],"processes":[{"meta":{"startTime":1010,"interval":1,"version":20,"processType":2},"libs":[],
      "threads":[{"name":"t","pid":3,"tid":4,"stringTable":["f","GC"],"frameTable":{"schema":{"location":0},"data":[[0]]},
        "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"samples":{"schema":{"stack":0,"time":1},"data":[[0,1]]},
        "markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},
          "data":[[1,2,4,1,0,{"stack":{"name":"SyncProfile","samples":{}}}],[1,5]]}}],
      "counters":[{"name":"malloc","samples":{"schema":{"time":0,"count":1},"data":[[2,40]]}}]}]})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const Timeline& t = *profile.timeline();
  REQUIRE(t.markers.size() == 2);
  CHECK(t.markers.begin[0] == 12'000'000);
  CHECK(t.markers.end[0] == 14'000'000);
  CHECK(n_reported(read, "marker-stack") == 1);
  REQUIRE(t.counters.n_points() == 1);
  CHECK(t.counters.time[0] == 12'000'000);
  CHECK(said_by(profile, t.counters.process[0]) == "3");
}
