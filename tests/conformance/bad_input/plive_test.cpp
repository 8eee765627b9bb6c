#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/live_stream.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

TEST_CASE("plive: bad input is refused or counted") {
  LiveStream begun;
  begun.hello();
  auto with = [&](const std::function<void(LiveStream&)>& more) {
    LiveStream stream = begun;
    more(stream);
    return stream.bytes;
  };
  LiveStream newer;
  Payload hello;
  hello.bytes = "PLIVE";
  hello.n(2).n(3).n(1).s("c").s("p").s("a").n(1'000'000'000).n(0).n(0).n(0);
  newer.message(live::MessageType::hello, hello.bytes);
  LiveStream no_clock;
  no_clock.hello(0, 0);
  const std::string whole =
      with([](LiveStream& s) { s.events(RecordsOf(1, 0).enter(0, 1).exit(9)).bye(10); });
  check_bad_inputs(
      "plive",
      {
          {"another file", "hello world\n", "error malformed: begins with `hello`"},
          {"a cut hello", begun.bytes.substr(0, 20), "error truncated: ends before its `hello`"},
          {"a newer version", newer.bytes, "error unsupported: versions 2 to 3"},
          {"a clock that stands", no_clock.bytes, "error malformed: a clock of 0 ticks"},
          {"two streams in one", begun.bytes + begun.bytes, "error malformed: a second `hello`"},
          {"a message too long", begun.bytes + std::string("\x07\xff\xff\xff\xff\x7f", 6),
           "error limit: longer than 65536 bytes"},
          {"a record that is cut", begun.bytes + std::string("\x07\x03\x01\x00\x80", 5),
           "error malformed: a record does not end"},
          {"a text longer than its message", begun.bytes + std::string("\x05\x04\x01\x01\x7f\x41", 6),
           "error malformed: a text does not end"},
          {"a time far ahead", with([](LiveStream& s) { s.events(RecordsOf(1, 0).enter(1ull << 60, 1)); }),
           "error malformed: ahead of its last tick"},
          {"no end", with([](LiveStream& s) { s.tick(5); }), "report no-bye"},
          {"an end within a message", whole.substr(0, whole.size() - 3), "report truncated"},
          {"lost events", with([](LiveStream& s) { s.gap(1, 0, 10, 5).bye(10); }), "report lost-events"},
          {"late events", with([](LiveStream& s) {
             s.tick(500'000'000).events(RecordsOf(1, 5).enter(5, 1)).bye(600'000'000);
           }),
           "report late-events"},
          {"an exit too many", with([](LiveStream& s) { s.events(RecordsOf(1, 0).exit(5)).bye(10); }),
           "report unmatched-exits"},
          {"a method beyond the limit",
           with([](LiveStream& s) { s.events(RecordsOf(1, 0).enter(0, 1 << 30)).bye(10); }),
           "report beyond-limits"},
          {"an unknown operation",
           with([](LiveStream& s) { s.events(RecordsOf(1, 0).other(0, 77, "x")).bye(10); }),
           "report unknown-operations"},
      });
}

TEST_CASE("plive: a recording has the time of every context itself, its calls and its threads") {
  const auto read = read_with("plive", read_bytes(reader_folder("plive") / "testdata/minimal.plive"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "wall") ==
        Paths{{"demo.Main.main:3", 70e6}, {"demo.Main.main:3;demo.Board.drop:40", 30e6}});
  CHECK(self_by_path(p, "calls") ==
        Paths{{"demo.Main.main:3", 1}, {"demo.Main.main:3;demo.Board.drop:40", 1}});
  REQUIRE(p.threads().size() == 1);
  CHECK(p.threads().tid[0] == 4712);
  CHECK(p.info().duration_ns == 120'000'000);
}
