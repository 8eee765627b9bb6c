// .cpuprofile: docs/formats/cpuprofile.md in examples.
#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

using Paths = std::map<std::string, double>;

// Root 1, main 2 (app.js:1), work 3 (app.js:11) under it, idle 4, collector 5.
std::string file(std::string_view rest, std::string_view work_more = "") {
  const auto frame = [](std::string_view name, std::string_view url, int line) {
    return R"("callFrame":{"functionName":")" + std::string(name) + R"(","scriptId":")" +
           (url.empty() ? "0" : "7") + R"(","url":")" + std::string(url) + R"(","lineNumber":)" +
           std::to_string(line) + R"(,"columnNumber":4})";
  };
  return R"({"nodes":[{"id":1,)" + frame("(root)", "", -1) + R"(,"hitCount":0,"children":[2,4,5]},{"id":2,)" +
         frame("main", "file:///home/me/my%20app.js", 0) + R"(,"hitCount":1,"children":[3]},{"id":3,)" +
         frame("", "file:///home/me/my%20app.js", 10) + R"(,"hitCount":3)" + std::string(work_more) +
         R"(},{"id":4,)" + frame("(idle)", "", -1) + R"(,"hitCount":1},{"id":5,)" +
         frame("(garbage collector)", "", -1) + R"(,"hitCount":0}],)" + std::string(rest) + "}";
}

constexpr std::string_view kTimed =
    R"("startTime":1000,"endTime":1100,"samples":[2,3,3,5,4],"timeDeltas":[10,20,5,7,8])";

std::string bad(const std::string& text) {
  return read_with("cpuprofile", text).error;
}

}  // namespace

TEST_CASE("cpuprofile: a sample lasts until the next one, the last until the end") {
  const auto read = read_with("cpuprofile", file(kTimed));
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  CHECK(self_by_path(profile, "samples") ==
        Paths{{"main", 1}, {"main;(anonymous)", 2}, {"(garbage collector)", 1}, {"(idle)", 1}});
  CHECK(
      self_by_path(profile, "time") ==
      Paths{{"main", 20000}, {"main;(anonymous)", 12000}, {"(garbage collector)", 8000}, {"(idle)", 50000}});
  CHECK(profile.metrics()[profile.default_metric().v].name == "time");
  CHECK(profile.metrics()[1].unit == "nanoseconds");
  CHECK(profile.info().duration_ns == 100000);
  CHECK(profile.n_samples() == 5);
  REQUIRE(profile.samples() != nullptr);
  CHECK(std::vector<std::int64_t>(profile.samples()->time.begin(), profile.samples()->time.end()) ==
        std::vector<std::int64_t>{10000, 30000, 35000, 42000, 50000});
  CHECK(profile.samples()->thread.empty());
}

TEST_CASE("cpuprofile: functions keep file, line and kind") {
  const auto read = read_with("cpuprofile", file(kTimed));
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  std::map<std::string, std::string> seen;
  for (std::uint32_t f = 0; f < profile.frames().size(); ++f) {
    const FunctionId function = profile.frames().function[f];
    seen[std::string(profile.function_name(function))] =
        std::string(profile.strings()[profile.functions().file[function.v]]) + ":" +
        std::to_string(profile.functions().start_line[function.v]) + ":" +
        std::to_string(profile.functions().start_column[function.v]) + " " +
        std::to_string(static_cast<int>(profile.frames().kind[f]));
  }
  CHECK(seen == std::map<std::string, std::string>{{"main", "/home/me/my app.js:1:5 1"},
                                                   {"(anonymous)", "/home/me/my app.js:11:5 1"},
                                                   {"(idle)", ":0:0 0"},
                                                   {"(garbage collector)", ":0:0 4"}});
}

TEST_CASE("cpuprofile: samples are dealt to the lines that were hit") {
  const std::string ticks = R"(,"positionTicks":[{"line":12,"ticks":1},{"line":14,"ticks":2}])";
  const auto read = read_with(
      "cpuprofile",
      file(R"("startTime":0,"endTime":50,"samples":[3,3,3,3,2],"timeDeltas":[0,10,10,10,10])", ticks));
  REQUIRE(read.error.empty());
  // One sample more than ticks: its line is not known.
  CHECK(self_by_path(*read.profiles.at(0), "samples") ==
        Paths{{"main;(anonymous):12", 1}, {"main;(anonymous):14", 2}, {"main;(anonymous)", 1}, {"main", 1}});
  CHECK(total_of(*read.profiles.at(0), "time") == 50000);
}

TEST_CASE("cpuprofile: without samples the hit counts are the samples") {
  const std::string ticks = R"(,"positionTicks":[{"line":12,"ticks":1},{"line":14,"ticks":1}])";
  const auto read = read_with("cpuprofile", file(R"("startTime":0,"endTime":50)", ticks));
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  CHECK(self_by_path(profile, "samples") == Paths{{"main", 1},
                                                  {"main;(anonymous)", 1},
                                                  {"main;(anonymous):12", 1},
                                                  {"main;(anonymous):14", 1},
                                                  {"(idle)", 1}});
  CHECK(profile.n_samples() == 5);
  CHECK(profile.samples() == nullptr);
  CHECK(n_reported(read, "no-times") == 1);
}

TEST_CASE("cpuprofile: more ticks than hits do not add hits") {
  const std::string ticks = R"(,"positionTicks":[{"line":12,"ticks":2},{"line":14,"ticks":9}])";
  const auto read = read_with("cpuprofile", file(R"("startTime":0)", ticks));
  REQUIRE(read.error.empty());
  CHECK(total_of(*read.profiles.at(0), "samples") == 5);
  CHECK(n_reported(read, "ticks-above-hits") == 1);
}

TEST_CASE("cpuprofile: after a negative delta samples are put in order of time") {
  const auto read = read_with(
      "cpuprofile", file(R"("startTime":0,"endTime":100,"samples":[2,3,2],"timeDeltas":[0,-5,10])"));
  REQUIRE(read.error.empty());
  CHECK(self_by_path(*read.profiles.at(0), "time") == Paths{{"main;(anonymous)", 5000}, {"main", 100000}});
  CHECK(n_reported(read, "negative-time-delta") == 1);
}

TEST_CASE("cpuprofile: an end before the last sample gives it no time") {
  const auto read =
      read_with("cpuprofile", file(R"("startTime":0,"endTime":5,"samples":[2,3],"timeDeltas":[0,10])"));
  REQUIRE(read.error.empty());
  CHECK(total_of(*read.profiles.at(0), "time") == 10000);
}

TEST_CASE("cpuprofile: sibling nodes of one function are one context, parent ids are as good as children") {
  const auto read = read_with("cpuprofile", R"js({"nodes":[
    {"id":9,"callFrame":{"functionName":"leaf","url":"a.js","lineNumber":4},"parent":7},
    {"id":8,"callFrame":{"functionName":"leaf","url":"a.js","lineNumber":4},"parent":7},
    {"id":7,"callFrame":{"functionName":"main","url":"a.js","lineNumber":0},"parent":1},
    {"id":1,"callFrame":{"functionName":"(root)"
}
}],
    "samples":[8,9,9,1],"timeDeltas":[0,1,1,1],"startTime":0,"endTime":4
})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  CHECK(self_by_function(profile, "samples") == Paths{{"leaf", 3}, {"", 1}});
  CHECK(profile.tree().size() == 3);
}

TEST_CASE("cpuprofile: the head layout has seconds, timestamps and lines from 1") {
  const auto read = read_with("cpuprofile", R"js({"head":{"functionName":"(root)","url":"","lineNumber":0,
    "children":[{"functionName":"a","url":"x.js","lineNumber":3,"hitCount":1,"children":[
      {"functionName":"b","url":"x.js","lineNumber":9,"hitCount":2,"children":[],"id":3}],"id":2}],"id":1},
    "startTime":10.5,"endTime":10.500100,"timestamps":[10500010,10500030,10500060],"samples":[2,3,3]
})js");
  REQUIRE(read.error.empty());
  const Profile& profile = *read.profiles.at(0);
  CHECK(self_by_path(profile, "time") == Paths{{"a", 20000}, {"a;b", 70000}});
  CHECK(profile.functions().start_line[0] == 9);  // b is closed first
  CHECK(profile.info().duration_ns == 100000);
}

TEST_CASE("cpuprofile: a head tree as deep as a stack may be is read, a deeper one refused") {
  const auto nested = [](int depth) {
    std::string text = R"({"head":)", end;
    for (int i = 0; i < depth; ++i) {
      text += R"({"functionName":"f","id":)" + std::to_string(i + 1) + R"(,"hitCount":1,"children":[)";
      end += "]}";
    }
    return text + end + "}";
  };
  const auto read = read_with("cpuprofile", nested(50000));
  REQUIRE(read.error.empty());
  CHECK(read.profiles.at(0)->tree().size() == 50001);
  CHECK(total_of(*read.profiles.at(0), "samples") == 50000);
  ReadLimits limits;
  limits.stack_depth = 1000;
  const auto refused = read_with("cpuprofile", nested(50000), limits);
  CHECK(refused.code == ErrorCode::limit);
}

TEST_CASE("cpuprofile: bad input is refused with reason and place") {
  struct Row {
    std::string text;
    std::string_view says;
  };
  const std::string two = R"({"id":1,"callFrame":{"functionName":"a"},"children":[2]},)";
  const Row rows[] = {
      {"{}", "neither nodes nor head"},
      {R"({"nodes":3,"startTime":0})", "neither nodes nor head"},
      {R"({"nodes":[{"callFrame":{"functionName":"a"}}]})", "the node has no id"},
      {R"({"nodes":[{"id":1},{"id":1}]})", "node id 1 occurs twice"},
      {R"({"nodes":[{"id":1,"children":[2]}]})", "has a child 2 that is not in the file"},
      {R"({"nodes":[{"id":1,"parent":2}]})", "has a parent 2 that is not in the file"},
      {R"({"nodes":[)" + two + R"({"id":2,"parent":3},{"id":3}]})", "node 2 has two parents, 1 and 3"},
      {R"({"nodes":[)" + two + R"({"id":2,"children":[1]}]})", "is its own ancestor"},
      {R"({"nodes":[{"id":1,"children":[1]}]})", "is its own ancestor"},
      {R"({"nodes":[{"id":1,"hitCount":-1}]})", "hitCount is negative"},
      {R"({"nodes":[{"id":1.5}]})", "in nodes[0]"},
      {R"({"nodes":[{"id":1,"positionTicks":[{"line":-4,"ticks":1}]}]})", "position tick is out of range"},
      {R"({"nodes":[{"id":1}],"samples":[1,7],"timeDeltas":[0,1]})", "sample of node 7"},
      {R"({"nodes":[{"id":1}],"samples":[1,"x"],"timeDeltas":[0,1]})", "in samples[1]"},
      {R"({"nodes":[{"id":1}],"samples":[1,1],"timeDeltas":[0]})",
       "timeDeltas has 1 entries, samples has more"},
      {R"({"nodes":[{"id":1}],"samples":[1],"timeDeltas":[0,1]})",
       "timeDeltas has more entries than samples"},
      {R"({"nodes":[{"id":1}],"samples":[1],"timeDeltas":[1e300]})", "time is out of range"},
      {R"({"nodes":[{"id":1}],"samples":[1],"timeDeltas":[null]})", "in timeDeltas[0]"},
      {R"({"nodes":[{"id":1}],"startTime":1e18})", "time is out of range"},
      {R"({"nodes":[{"id":1}]} x)", "expected the end of the JSON text"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(bad(row.text).find(row.says) != std::string::npos);
    const auto read = read_with("cpuprofile", row.text);
    CHECK(read.offset.value_or(0) <= row.text.size());
  }
}

TEST_CASE("cpuprofile: every prefix of a file is refused within its bounds") {
  const std::string text = file(kTimed);
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto read = read_with("cpuprofile", text.substr(0, n));
    REQUIRE_FALSE(read.error.empty());
    CHECK(read.code == ErrorCode::truncated);
    CHECK(read.offset.value_or(0) <= n);
  }
}

TEST_CASE("cpuprofile: the last of equal keys wins") {
  const auto twice = read_with("cpuprofile", file(std::string(kTimed) + R"(,"endTime":2000)"));
  REQUIRE(twice.error.empty());
  CHECK(total_of(*twice.profiles.at(0), "time") == 990000);
}

namespace {

OpenedFile with_gc_on_stack(const std::string& text, std::string_view format = "cpuprofile") {
  OpenOptions options;
  options.format = format;
  options.gc_on_stack = true;
  SerialExecutor executor;
  auto opened = open_profiles(memory_source(text, ""), options, executor, {});
  REQUIRE(opened);
  return std::move(*opened);
}

// "gc-on-stack 2, no-gc 1".
std::string about_gc(const OpenedFile& opened) {
  std::string out;
  for (const ReportRow& row : opened.report.rows())
    if (row.kind.find("gc") != std::string::npos)
      out += (out.empty() ? "" : ", ") + row.kind + " " + std::to_string(row.count);
  return out;
}

}  // namespace

TEST_CASE("cpuprofile: the collector stands on the stack before it when that is asked for") {
  const auto opened = with_gc_on_stack(file(kTimed));
  const Profile& profile = *opened.profiles.at(0);
  CHECK(self_by_path(profile, "time") == Paths{{"main", 20000},
                                               {"main;(anonymous)", 12000},
                                               {"main;(anonymous);(garbage collector)", 8000},
                                               {"(idle)", 50000}});
  CHECK(about_gc(opened) == "gc-on-stack 1");
  // No empty box is left where it would have stood.
  CHECK(profile.tree().size() == 5);
}

TEST_CASE("cpuprofile: collections in a row have one cause, and idle time is none") {
  const auto opened = with_gc_on_stack(
      file(R"("startTime":0,"endTime":90,"samples":[5,2,5,5,3,4,5],"timeDeltas":[10,10,10,10,10,10,10])"));
  CHECK(self_by_path(*opened.profiles.at(0), "samples") == Paths{{"(garbage collector)", 2},
                                                                 {"main", 1},
                                                                 {"main;(garbage collector)", 2},
                                                                 {"main;(anonymous)", 1},
                                                                 {"(idle)", 1}});
  CHECK(about_gc(opened) == "gc-on-stack 2, gc-without-stack 2");
}

TEST_CASE("cpuprofile: which stack ran before the collector is told by the times, not by the file's order") {
  // At 10, 40, 30, 45: work (3) was sampled before the collector and is written behind it.
  const auto opened =
      with_gc_on_stack(file(R"("startTime":0,"endTime":50,"samples":[2,5,3,2],"timeDeltas":[10,30,-10,15])"));
  CHECK(self_by_path(*opened.profiles.at(0), "samples") ==
        Paths{{"main", 2}, {"main;(anonymous)", 1}, {"main;(anonymous);(garbage collector)", 1}});
}

TEST_CASE("cpuprofile: without times the order of the samples tells, and without samples nothing does") {
  const auto opened = with_gc_on_stack(file(R"("samples":[2,5,4])"));
  CHECK(self_by_path(*opened.profiles.at(0), "samples") ==
        Paths{{"main", 1}, {"main;(garbage collector)", 1}, {"(idle)", 1}});
  CHECK(about_gc(with_gc_on_stack(file(R"("title":"hits")"))) == "no-gc 1");
  CHECK(about_gc(with_gc_on_stack("a;b 3\n", "folded")) == "no-gc 1");
}

TEST_CASE("chrome-trace: the collector stands on the stack before it when that is asked for") {
  const auto node = [](int id, const char* name, int parent, const char* url) {
    return R"({"id":)" + std::to_string(id) + (parent > 0 ? R"(,"parent":)" + std::to_string(parent) : "") +
           R"(,"callFrame":{"functionName":")" + name + R"(","scriptId":)" + (*url != 0 ? "7" : "0") +
           R"(,"url":")" + url + R"(","lineNumber":3,"columnNumber":1}})";
  };
  const std::string text =
      R"([{"name":"Profile","ph":"P","id":"1","pid":1,"tid":1,"ts":5,"args":{"data":{"startTime":0}}},)"
      R"({"name":"ProfileChunk","ph":"P","id":"1","pid":1,"tid":2,"ts":6,"args":{"data":{"cpuProfile":{"nodes":[)" +
      node(1, "(root)", 0, "") + "," + node(2, "(program)", 1, "") + "," +
      node(3, "(garbage collector)", 1, "") + "," + node(4, "f", 1, "a.js") +
      R"(],"samples":[3,2,3,4,3,3,2]},"lines":[0,0,0,5,0,0,0],"timeDeltas":[1,1,1,1,1,1,1]}}}])";
  const auto opened = with_gc_on_stack(text, "chrome-trace");
  CHECK(self_by_path(*opened.profiles.at(0), "samples") ==
        Paths{{"(garbage collector)", 2}, {"(program)", 2}, {"f:5", 1}, {"f:5;(garbage collector)", 2}});
  CHECK(about_gc(opened) == "gc-on-stack 2, gc-without-stack 2");
  OpenOptions plain;
  SerialExecutor executor;
  const auto own = open_profiles(memory_source(text, ""), plain, executor, {});
  REQUIRE(own);
  CHECK(self_by_path(*own->profiles.at(0), "samples") ==
        Paths{{"(garbage collector)", 4}, {"(program)", 2}, {"f:5", 1}});
  CHECK(about_gc(*own).empty());
}
