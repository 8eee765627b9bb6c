// speedscope JSON: docs/formats/speedscope.md in examples.
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

using Paths = std::map<std::string, double>;

constexpr std::string_view kFrames =
    R"("shared":{"frames":[{"name":"a","file":"x.py","line":3},{"name":"b"},{"name":"c","col":7},{"name":"b"}]})";

std::string speedscope_file(std::string_view profiles) {
  return R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[)" +
         std::string(profiles) + "]," + std::string(kFrames) + R"(,"exporter":"tool@1","name":"doc"})";
}
std::string sampled(std::string_view samples, std::string_view weights, std::string_view unit = "nanoseconds",
                    std::string_view name = "main") {
  return R"({"type":"sampled","name":")" + std::string(name) + R"(","unit":")" + std::string(unit) +
         R"(","startValue":100,"endValue":200,"samples":)" + std::string(samples) + R"(,"weights":)" +
         std::string(weights) + "}";
}
std::string evented(std::string_view events, std::string_view end = "20", std::string_view unit = "none") {
  return R"({"type":"evented","name":"e","unit":")" + std::string(unit) + R"(","startValue":0,"endValue":)" +
         std::string(end) + R"(,"events":[)" + std::string(events) + "]}";
}
std::string event(char type, int frame, std::string_view at) {
  return std::string(R"({"type":")") + type + R"(","frame":)" + std::to_string(frame) + R"(,"at":)" +
         std::string(at) + "}";
}

ReadOutcome read(const std::string& text) {
  return read_with("speedscope", text);
}

}  // namespace

TEST_CASE("speedscope: sampled stacks are weighed, timed and threaded") {
  const auto out = read(speedscope_file(sampled("[[0,1,2],[0, 3],[],[0,1,2]]", "[5,6,7,8]")));
  REQUIRE(out.error.empty());
  const Profile& profile = *out.profiles.at(0);
  // Frames 1 and 3 are equal and become one.
  CHECK(self_by_path(profile, "time") == Paths{{"a:3;b;c", 13}, {"a:3;b", 6}, {"", 7}});
  CHECK(profile.frames().size() == 3);
  CHECK(profile.n_samples() == 4);
  REQUIRE(profile.samples() != nullptr);
  const SampleTable& samples = *profile.samples();
  CHECK(std::vector<std::int64_t>(samples.time.begin(), samples.time.end()) ==
        std::vector<std::int64_t>{0, 5, 11, 18});
  CHECK(profile.strings()[profile.threads().name[samples.thread[0]]] == "main");
  CHECK(profile.info().duration_ns == 100);
  CHECK(profile.info().name == "doc");
  CHECK(profile.info().producer == "tool@1");
}

TEST_CASE("speedscope: times become nanoseconds, exactly while they are whole") {
  const auto whole = read(speedscope_file(sampled("[[0],[1]]", "[0.01,2.5e-3]", "seconds")));
  REQUIRE(whole.error.empty());
  CHECK(std::get<std::int64_t>(whole.profiles.at(0)->total(MetricId{0u})) == 12500000);
  CHECK(whole.profiles.at(0)->metrics()[0].unit == "nanoseconds");
  const auto fraction = read(speedscope_file(sampled("[[0],[1]]", "[1,0.0010042490000614634]", "seconds")));
  REQUIRE(fraction.error.empty());
  CHECK(std::get<double>(fraction.profiles.at(0)->total(MetricId{0u})) ==
        Approx(1001004249.0000614634).epsilon(1e-12));
  CHECK(self_by_path(*fraction.profiles.at(0), "time").at("a:3") == 1e9);
  const auto millis = read(speedscope_file(sampled("[[0]]", "[3]", "milliseconds")));
  CHECK(total_of(*millis.profiles.at(0), "time") == 3e6);
}

TEST_CASE("speedscope: bytes and plain weights have no times") {
  const auto bytes = read(speedscope_file(sampled("[[0],[1]]", "[3,4]", "bytes")));
  REQUIRE(bytes.error.empty());
  CHECK(total_of(*bytes.profiles.at(0), "bytes") == 7);
  CHECK(bytes.profiles.at(0)->samples()->time.empty());
  const auto none = read(speedscope_file(sampled("[[0],[1]]", "[3,0.5]", "none")));
  REQUIRE(none.error.empty());
  CHECK(total_of(*none.profiles.at(0), "weight") == 3.5);
  CHECK(none.profiles.at(0)->metrics()[0].unit.empty());
}

TEST_CASE("speedscope: profiles of one unit are threads of one profile, of another unit another profile") {
  const auto out = read(speedscope_file(sampled("[[0]]", "[3]", "seconds", "t") + "," +
                                        sampled("[[1]]", "[4]", "bytes", "t") + "," +
                                        sampled("[[0,2]]", "[5]", "seconds", "t")));
  REQUIRE(out.error.empty());
  REQUIRE(out.profiles.size() == 2);
  const Profile& time = *out.profiles[0];
  CHECK(total_of(time, "time") == 8e9);
  REQUIRE(time.threads().size() == 2);
  CHECK(time.strings()[time.threads().name[0]] == "t");
  CHECK(time.strings()[time.threads().name[1]] == "t #2");
  CHECK(time.info().name == "doc (seconds)");
  CHECK(total_of(*out.profiles[1], "bytes") == 4);
}

TEST_CASE("speedscope: a frame's own time is the time it is innermost; gaps belong to nothing") {
  const auto out = read(
      speedscope_file(evented(event('O', 0, "1") + "," + event('O', 0, "3") + "," + event('O', 2, "4") + "," +
                              event('C', 2, "8") + "," + event('C', 0, "8") + "," + event('C', 0, "10") +
                              "," + event('O', 1, "15") + "," + event('C', 1, "16"))));
  REQUIRE(out.error.empty());
  const Profile& profile = *out.profiles.at(0);
  CHECK(self_by_path(profile, "weight") == Paths{{"a:3", 4}, {"a:3;a:3", 1}, {"a:3;a:3;c", 4}, {"b", 1}});
  CHECK(total_of(profile, "weight") == 10);
}

TEST_CASE("speedscope: frames left open are closed at the end and counted") {
  const auto out = read(speedscope_file(evented(event('O', 0, "0") + "," + event('O', 1, "5"))));
  REQUIRE(out.error.empty());
  CHECK(self_by_path(*out.profiles.at(0), "weight") == Paths{{"a:3", 5}, {"a:3;b", 15}});
  CHECK(n_reported(out, "unclosed-frame") == 2);
}

TEST_CASE("speedscope: sampled and evented profiles of one unit share a profile") {
  const auto out =
      read(speedscope_file(sampled("[[0,1]]", "[3]", "none") + "," + evented(event('O', 0, "0"))));
  REQUIRE(out.error.empty());
  REQUIRE(out.profiles.size() == 1);
  CHECK(self_by_path(*out.profiles[0], "weight") == Paths{{"a:3", 20}, {"a:3;b", 3}});
}

TEST_CASE("speedscope: an empty profile is a profile of nothing") {
  const auto out = read(speedscope_file(sampled("[]", "[]")));
  REQUIRE(out.error.empty());
  CHECK(total_of(*out.profiles.at(0), "time") == 0);
}

TEST_CASE("speedscope: indices may be written in any way JSON allows") {
  const auto out = read(speedscope_file(sampled("[[0.0,1e0,\n 20e-1 ]]", "[5.0]")));
  REQUIRE(out.error.empty());
  CHECK(self_by_path(*out.profiles.at(0), "time") == Paths{{"a:3;b;c", 5}});
}

TEST_CASE("speedscope: odd frames are kept and reported") {
  const auto out =
      read(R"({"shared":{"frames":[{"file":"f.js","line":-1},{"name":"\ud800","line":1.5,"col":null}]},
    "profiles":[{"type":"sampled","unit":"none","samples":[[0,1]],"weights":[1]}]})");
  REQUIRE(out.error.empty());
  CHECK(self_by_path(*out.profiles.at(0), "weight") == Paths{{"(anonymous);\xEF\xBF\xBD", 1}});
  CHECK(n_reported(out, "unnamed-frame") == 1);
  CHECK(n_reported(out, "odd-line") == 2);
  CHECK(n_reported(out, "invalid-text") == 1);
}

TEST_CASE("speedscope: bad input is refused with reason and place") {
  struct Row {
    std::string text;
    std::string_view says;
  };
  const std::string good = sampled("[[0]]", "[1]");
  const Row rows[] = {
      {"{}", "no shared.frames"},
      {"[]", "expected an object"},
      {R"({"shared":{"frames":[]},"profiles":[]})", "no profiles"},
      {R"({"shared":{"frames":[3]},"profiles":[{}]})", "in shared.frames[0]"},
      {speedscope_file(R"({"type":"heap"})"), "neither evented nor sampled"},
      {speedscope_file(R"({"type":"sampled","samples":[]})"), "needs samples and weights"},
      {speedscope_file(R"({"type":"evented"})"), "needs events"},
      {speedscope_file(sampled("[[0]]", "[1,2]")), "there are more weights than samples (1)"},
      {speedscope_file(sampled("[[0],[0]]", "[1]")), "there are more samples than weights (1)"},
      {speedscope_file(sampled("[[0]]", "[-1]")), "the weight is negative"},
      {speedscope_file(sampled("[[0]]", "[\"1\"]")), "in profiles[0].weights[0]"},
      {speedscope_file(good + "," + sampled("[[0],[1],[2],[0,0,4]]", "[1,1,1,1]")),
       "frame 4 is out of range: shared.frames has 4 (at byte 305, in profiles[1].samples[3][2])"},
      {speedscope_file(sampled("[[0,-1]]", "[1]")), "frame -1 is out of range"},
      {speedscope_file(sampled("[[0,1.5]]", "[1]")), "in profiles[0].samples[0][1]"},
      {speedscope_file(sampled("[0]", "[1]")), "expected an array"},
      {speedscope_file(evented(event('C', 0, "1"))), "none is open"},
      {speedscope_file(evented(event('O', 0, "1") + "," + event('C', 1, "2"))), "not the innermost open one"},
      {speedscope_file(evented(event('O', 0, "1") + "," + event('O', 0, "0.5"))), "in profiles[0].events[1]"},
      {speedscope_file(evented(event('O', 9, "1"))), "frame 9 is out of range"},
      {speedscope_file(evented(event('X', 0, "1"))), "an event needs a type"},
      {speedscope_file(evented(R"({"type":"O","frame":0})")), "an event needs a type"},
      {speedscope_file(evented(event('O', 0, "1e400"))), "the number is too large"},
      {speedscope_file(evented(event('O', 0, "1e307"), "1", "seconds")), "the value is out of range"},
      {speedscope_file(good) + "]", "expected the end of the JSON text"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto out = read(row.text);
    INFO(out.error);
    CHECK(out.error.find(row.says) != std::string::npos);
    CHECK(out.offset.value_or(0) <= row.text.size());
  }
}

TEST_CASE("speedscope: stacks deeper than the limit are refused") {
  ReadLimits limits;
  limits.stack_depth = 3;
  CHECK(read_with("speedscope", speedscope_file(sampled("[[0,0,0]]", "[1]")), limits).error.empty());
  CHECK(read_with("speedscope", speedscope_file(sampled("[[0,0,0,0]]", "[1]")), limits).code ==
        ErrorCode::limit);
  std::string opens;
  for (int i = 0; i < 4; ++i) opens += (i == 0 ? "" : ",") + event('O', 0, "1");
  CHECK(read_with("speedscope", speedscope_file(evented(opens)), limits).code == ErrorCode::limit);
}

TEST_CASE("speedscope: every prefix of a file is refused within its bounds") {
  const std::string text =
      speedscope_file(sampled("[[0,1,2],[0,1]]", "[5,6]") + "," + evented(event('O', 0, "1")));
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto out = read(text.substr(0, n));
    REQUIRE_FALSE(out.error.empty());
    CHECK(out.code == ErrorCode::truncated);
    CHECK(out.offset.value_or(0) <= n);
  }
}

TEST_CASE("speedscope and cpuprofile tell their files from others by content") {
  const auto sniff = [](std::string_view format, std::string_view text) {
    return reader_of(format)->sniff(std::as_bytes(std::span(text)), true);
  };
  CHECK(sniff("speedscope", speedscope_file("")) == Confidence::certain);
  CHECK(sniff("speedscope", R"({"profiles":[{"type":"sampled","unit":"none"}],"shared":{}})") ==
        Confidence::maybe);
  CHECK(sniff("speedscope", R"({"$schema":"https://example.org/other","profiles":[]})") == Confidence::no);
  CHECK(sniff("cpuprofile", R"({"nodes":[{"id":1,"callFrame":{}}],"startTime":1})") == Confidence::certain);
  CHECK(sniff("cpuprofile", R"js({"head":{"functionName":"(root)","hitCount":0,"id":1}})js") ==
        Confidence::certain);
  CHECK(sniff("cpuprofile", R"({"head":{"callFrame":{},"selfSize":0,"id":1}})") == Confidence::no);
  for (const char* other :
       {"", "{", "main;a 3", "{\"traceEvents\":[]}", "[]", "{\"snapshot\":{},\"nodes\":[1,2]}"}) {
    CHECK(sniff("speedscope", other) == Confidence::no);
    CHECK(sniff("cpuprofile", other) == Confidence::no);
  }
}
