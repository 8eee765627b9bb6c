// What a Chrome trace tells beside stacks: docs/formats/chrome-trace.md in examples.
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

// With a slice, so that there is a profile; times are in microseconds.
ReadOutcome trace_of(const std::string& events) {
  return read_with("chrome-trace",
                   R"js([{"ph":"X","name":"outer","pid":1,"tid":1,"ts":0,"dur":100})js" + events + "]");
}

std::string chrome_text(const Profile& profile, StringId id) {
  return std::string(profile.strings()[id]);
}

// "key=value" of every field.
std::vector<std::string> chrome_fields(const Profile& profile, std::uint32_t set) {
  std::vector<std::string> out;
  const LabelTable& labels = profile.labels();
  for (std::uint32_t i = labels.first[set]; i < labels.first[set + 1]; ++i)
    out.push_back(
        chrome_text(profile, labels.key[i]) + "=" +
        (labels.is_number[i] != 0 ? std::to_string(labels.number[i]) : chrome_text(profile, labels.text[i])));
  return out;
}

}  // namespace

TEST_CASE("chrome-trace: slices are spans with the context they began in") {
  const auto read = trace_of(R"js(,{"ph":"B","name":"inner","pid":1,"tid":1,"ts":10},
    {"ph":"B","name":"open","pid":1,"tid":1,"ts":20},{"ph":"X","name":"leaf","pid":1,"tid":1,"ts":30,"dur":5},
    {"ph":"X","name":"leaf","pid":1,"tid":1,"ts":40,"dur":5},{"ph":"X","name":"other","pid":1,"tid":2,"ts":1,"dur":1})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const SpanTable& spans = profile.timeline()->spans;
  REQUIRE(spans.size() == 6);
  std::vector<std::string> paths;
  for (const std::uint32_t context : spans.context) paths.push_back(path_of(profile, context));
  CHECK(paths == std::vector<std::string>{"outer", "outer;inner", "outer;inner;open", "outer;inner;open;leaf",
                                          "outer;inner;open;leaf", "other"});
  CHECK(spans.end[0] == 100'000);
  CHECK(spans.end[1] == kNoTime);
  CHECK(spans.end[3] == 35'000);
  CHECK(spans.begin[4] == 40'000);
  CHECK(spans.thread[5] != spans.thread[0]);
}

TEST_CASE("chrome-trace: asynchronous operations are tasks, their parts spans in any order of the file") {
  const auto read = trace_of(R"js(,
    {"ph":"e","name":"load","cat":"net","id":"0x1","pid":1,"tid":2,"ts":50},
    {"ph":"b","name":"load","cat":"net","id":"0x1","pid":1,"tid":1,"ts":10},
    {"ph":"b","name":"parse","cat":"net","id":"0x1","pid":1,"tid":1,"ts":20},
    {"ph":"n","name":"half","cat":"net","id":"0x1","pid":1,"tid":1,"ts":25},
    {"ph":"e","name":"parse","cat":"net","id":"0x1","pid":1,"tid":1,"ts":30},
    {"ph":"b","name":"load","cat":"other","id":"0x1","pid":1,"tid":1,"ts":60},
    {"ph":"b","name":"mine","cat":"net","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":61},
    {"ph":"e","name":"mine","cat":"net","id2":{"local":"0x1"},"pid":2,"tid":1,"ts":62},
    {"ph":"S","name":"old","cat":"net","id":9,"pid":1,"tid":1,"ts":70},
    {"ph":"T","name":"old","cat":"net","id":9,"pid":1,"tid":1,"ts":71},
    {"ph":"F","name":"old","cat":"net","id":9,"pid":1,"tid":1,"ts":72})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const Timeline& t = *profile.timeline();
  // net 0x1, other 0x1, one 0x1 of each process, old 9
  REQUIRE(t.tasks.size() == 5);
  CHECK(chrome_text(profile, t.tasks.name[0]) == "load");
  CHECK(t.tasks.begin[0] == 10'000);
  CHECK(t.tasks.end[0] == 50'000);
  std::vector<std::string> spans;
  for (std::size_t i = 0; i < t.spans.size(); ++i)
    if (value_or(t.spans.task, i, kNone) != kNone)
      spans.push_back(chrome_text(profile, t.spans.name[i]) + " " +
                      (t.spans.end[i] == kNoTime ? "?" : std::to_string(t.spans.end[i] - t.spans.begin[i])));
  CHECK(spans == std::vector<std::string>{"load 40000", "parse 10000", "load ?", "mine ?", "old 2000"});
  CHECK(n_reported(read, "unmatched-async-end") == 1);
  CHECK(t.markers.size() == 2);
}

TEST_CASE("chrome-trace: Node.js names the operation that made another one") {
  const auto read = trace_of(R"js(,
    {"ph":"b","name":"Timeout","cat":"node.async_hooks","id":"0x5","pid":1,"tid":1,"ts":10,
     "args":{"data":{"executionAsyncId":1,"triggerAsyncId":1}}},
    {"ph":"b","name":"Promise","cat":"node.async_hooks","id":"0x1f","pid":1,"tid":1,"ts":20,
     "args":{"data":{"executionAsyncId":1,"triggerAsyncId":5}}},
    {"ph":"b","name":"Promise","cat":"node.async_hooks","id":"0x20","pid":1,"tid":1,"ts":30,
     "args":{"data":{"triggerAsyncId":32}}})js");
  REQUIRE(read.error.empty());
  const TaskTable& tasks = read.profiles.at(0)->timeline()->tasks;
  REQUIRE(tasks.size() == 3);
  CHECK(std::vector(tasks.parent.begin(), tasks.parent.end()) == std::vector<std::uint32_t>{kNone, 0, kNone});
}

TEST_CASE("chrome-trace: instants are markers with their arguments") {
  const auto read = trace_of(R"js(,{"ph":"i","name":"paint","cat":"gpu","pid":1,"tid":1,"ts":5,"s":"t",
    "args":{"frame":7,"why":"scr\u006fll","ok":true,"list":[1],"data":{"url":"x","deep":{"a":1}},"share":0.5,"none":null}},
    {"ph":"I","name":"old","pid":1,"tid":1,"ts":6},{"ph":"i","name":"no time","pid":1,"tid":1})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const MarkerTable& markers = profile.timeline()->markers;
  REQUIRE(markers.size() == 2);
  CHECK(chrome_text(profile, markers.name[0]) == "paint");
  CHECK(chrome_text(profile, markers.category[0]) == "gpu");
  CHECK(markers.begin[0] == 5000);
  CHECK(markers.end[0] == 5000);
  CHECK(chrome_fields(profile, markers.label_set[0]) ==
        std::vector<std::string>{"frame=7", "why=scroll", "ok=true", "data.url=x", "share=0.5"});
  CHECK(n_reported(read, "event-field-left-out") == 2);
  CHECK(n_reported(read, "event-without-time") == 1);
}

TEST_CASE("chrome-trace: counters are a number a process, name and argument") {
  const auto read =
      trace_of(R"js(,{"ph":"C","name":"mem","pid":1,"ts":9,"args":{"used":10,"free":"2.5","bad":"x"}},
    {"ph":"C","name":"mem","pid":1,"ts":4,"args":{"used":11}},{"ph":"C","name":"mem","pid":2,"ts":5,"args":{"used":1}},
    {"ph":"C","name":"fps","id":"a","pid":1,"ts":5,"args":{"value":60}})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  const CounterTable& counters = profile.timeline()->counters;
  REQUIRE(counters.size() == 4);
  CHECK(chrome_text(profile, counters.name[0]) == "mem used");
  CHECK(chrome_text(profile, counters.process[2]) == "2");
  CHECK(chrome_text(profile, counters.name[3]) == "fps[a]");
  CHECK(counters.time[0] == 4000);
  CHECK(counters.value[0] == 11);
  CHECK(counters.value[counters.first[1]] == 2.5);
  CHECK(n_reported(read, "counter-not-a-number") == 1);
}

TEST_CASE("chrome-trace: what is on no stack is read of a stream that was cut off") {
  const auto read = read_with("chrome-trace", R"js([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1},
    {"ph":"C","name":"mem","pid":1,"ts":9,"args":{"used":10}},)js");
  REQUIRE(read.error.empty());
  CHECK(read.profiles.at(0)->timeline()->counters.n_points() == 1);
}

TEST_CASE("chrome-trace: many ends without a begin do not cost what is open each") {
  std::string events;
  for (int i = 0; i < 20'000; ++i) events += R"js(,{"ph":"b","name":"n","id":1,"pid":1,"tid":1,"ts":1})js";
  for (int i = 0; i < 20'000; ++i) events += R"js(,{"ph":"e","name":"m","id":1,"pid":1,"tid":1,"ts":2})js";
  const auto read = trace_of(events);
  REQUIRE(read.error.empty());
  CHECK(n_reported(read, "unmatched-async-end") == 20'000);
  CHECK(read.profiles.at(0)->timeline()->spans.size() == 20'001);
}
