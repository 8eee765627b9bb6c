#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("callgrind: bad input is refused or counted") {
  const std::string head = "events: Ir\nfl=a.c\nfn=main\n";
  check_bad_inputs(
      "callgrind",
      {
          {"another file", "hello\n", "error malformed: names the events"},
          {"a newer version", "version: 2\n" + head, "error unsupported: version 2"},
          {"costs before events", "1 10\nevents: Ir\n", "error malformed: before the line that names"},
          {"a cost that is no number", head + "1 x\n", "error malformed: cost is no number"},
          {"a cost above int64", head + "1 9223372036854775808\n", "error malformed: cost is no number"},
          {"a cost that overflows its unit", "events: Time_(10ns)\nfn=main\n1 9223372036854775807\n",
           "error malformed: too large"},
          {"a position that is no number", head + "1x 10\n", "error malformed: position"},
          {"a name that was not given", "events: Ir\nfn=(3)\n1 1\n", "report undefined-name"},
          {"a number of calls that is none", head + "cfn=f\ncalls=x 1\n1 1\n",
           "error malformed: number of calls"},
          {"calls of nothing", head + "calls=1 1\n1 1\n", "error malformed: of what"},
          {"a call without its cost", head + "cfn=f\ncalls=1 1\n", "error truncated: before its cost"},
          {"two calls and one cost", head + "cfn=f\ncalls=1 1\ncfn=g\ncalls=1 1\n1 1\n",
           "error malformed: has no cost"},
          {"a jump that cannot be read", head + "jcnd=1 5\n1\n", "error malformed: jump"},
          {"positions of no kind", "positions:\n" + head, "error malformed: no positions"},
          {"more costs than events", head + "1 1 2\n", "report extra-cost"},
          {"costs outside a function", "events: Ir\n1 10\n", "report cost-outside-function"},
          {"a line of an unknown kind", head + "wat\n1 1\n", "report unknown-line"},
          {"totals that differ", head + "1 1\ntotals: 2\n", "report totals-differ"},
          {"events behind blanks", head + " events: Dr\n", "error malformed: start of the line"},
      });
}

TEST_CASE("callgrind: units are told by the names of pprof and by the long names of valgrind") {
  const auto read =
      read_with("callgrind",
                "positions: line\nevent: totB : total allocated Bytes\n"
                "event: totBk : total allocated Blocks\nevent: sysTime : sysTime (elapsed us)\n"
                "events: totB totBk sysTime cpu(ms) inuse_space(MB)\nfl=a.c\nfn=main\n1 5 6 7 8 9\n");
  REQUIRE(read.error == "");
  const Profile& profile = *read.profiles[0];
  CHECK(self_by_path(profile, "totB") == std::map<std::string, double>{{"main:1", 5}});
  CHECK(self_by_path(profile, "sysTime") == std::map<std::string, double>{{"main:1", 7000}});
  CHECK(self_by_path(profile, "cpu") == std::map<std::string, double>{{"main:1", 8e6}});
  CHECK(self_by_path(profile, "inuse_space") == std::map<std::string, double>{{"main:1", 9.0 * 1048576}});
  std::map<std::string, std::string> units;
  for (const MetricInfo& metric : profile.metrics()) units[metric.name] = metric.unit;
  CHECK(units["totB"] == "bytes");
  CHECK(units["totBk"] == "count");
  CHECK(units["sysTime"] == "nanoseconds");
}

TEST_CASE("callgrind: every form of a position is counted from the line of costs before, in calls too") {
  const auto read =
      read_with("callgrind", read_bytes(reader_folder("callgrind") / "testdata" / "positions.callgrind"));
  REQUIRE(read.error == "");
  const Profile& profile = *read.profiles[0];
  // "main 0x1000:10": its self cost.
  std::map<std::string, std::int64_t> places;
  const auto place = [&](std::uint32_t context) {
    const std::uint32_t frame = profile.tree().frame[context];
    const FrameTable& frames = profile.frames();
    return fmt::format("{} {:#x}:{}", profile.function_name(frames.function[frame]), frames.address[frame],
                       frames.line[frame]);
  };
  const auto& self = std::get<Column<std::int64_t>>(profile.self().values[0]);
  for (std::size_t row = 0; row < self.size(); ++row)
    if (self[row] != 0) places[place(profile.self().contexts[row])] += self[row];
  CHECK(places == std::map<std::string, std::int64_t>{{"main 0x1000:10", 6},
                                                      {"main 0x1004:11", 5},
                                                      {"main 0x1010:20", 7},
                                                      {"main 0x1020:25", 1},
                                                      {"main 0x1024:25", 2},
                                                      {"main 0x101c:4", 2},
                                                      {"leaf 0x1040:28", 40},
                                                      {"twig 0x101c:2", 20}});
  std::set<std::string> calls;
  for (const AssociationTable& table : profile.associations()) {
    if (table.name != "calls") continue;
    for (std::size_t r = 0; r < table.size(); ++r)
      calls.insert(place(table.contexts[0][r]) + " -> " + place(table.contexts[1][r]));
  }
  CHECK(calls == std::set<std::string>{"main 0x101c:4 -> leaf 0x103c:7", "main 0x1020:30 -> twig 0x101c:2"});
}

TEST_CASE("callgrind: caches that were not simulated are not described") {
  const auto comments = [](const char* name) {
    const auto opened = open_hidden(read_bytes(reader_folder("callgrind") / "testdata" / name));
    REQUIRE(opened);
    std::string all;
    for (const std::string& comment : opened->profiles.front()->info().comments) all += comment + "\n";
    return all;
  };
  const std::string plain = comments("recorded-plain.callgrind");
  CHECK(plain.find("cache") == std::string::npos);
  CHECK(plain.find("Trigger: ") != std::string::npos);
  CHECK(comments("recorded-cache.callgrind").find("I1 cache: 32768 B") != std::string::npos);
}
