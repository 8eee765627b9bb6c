#include <map>
#include <sstream>
#include <string>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kSampleHeader = "demo 7/7 1.000000: cycles: \n";
const std::string kFrame = "\t    55d0 leaf (/bin/demo)\n";

}  // namespace

TEST_CASE("perf script: bad input is refused or counted") {
  std::string deep = kSampleHeader, many_events;
  for (int i = 0; i < 10001; ++i) deep += kFrame;
  for (int i = 0; i < 200; ++i) many_events += "demo 7 1.0: e" + std::to_string(i) + ": \n\n";
  check_bad_inputs(
      "perf-script",
      {
          {"only comments", "# ========\n# captured on : now\n#\n", "error malformed: there is no sample"},
          {"only prose", "nothing here was\nprinted by perf\n", "error malformed: there is no sample"},
          {"binary", std::string("\0\1\2\3\n\xff\xfe\xfd", 8), "error malformed: there is no sample"},
          {"too deep", deep, "error limit: stack_depth"},
          {"too many events", many_events, "error limit: different events"},
          {"a frame after the end of its sample", kSampleHeader + "\n" + kFrame, "report orphan-frame"},
          {"a line that is nothing", kSampleHeader + kFrame + "\twhat is this\n", "report malformed-line"},
          {"an address wider than 64 bits", kSampleHeader + "\t1234567890abcdef0 f (/x)\n",
           "report malformed-line"},
          {"a time that does not fit", kSampleHeader + kFrame + "\ndemo 7 99999999999999999999.5: cycles: \n",
           "report malformed-line"},
          {"bytes that are no UTF-8", kSampleHeader + "\t    55d0 \xff\xfe (/bin/demo)\n",
           "report invalid-utf8"},
          {"a period on some samples only", kSampleHeader + kFrame + "\ndemo 7/7 1.1: 5 cycles: \n" + kFrame,
           "report period-missing"},
          {"frames that lost their indentation", kSampleHeader + "55d0 leaf (/bin/demo)\n",
           "report lost-indentation"},
          {"a frame at the margin among others", kSampleHeader + kFrame + "55d0 leaf (/bin/demo)\n",
           "report malformed-line"},
          {"a frame at the margin without a module", kSampleHeader + "55d0 leaf (/bin/demo)\n55e0 main\n",
           "report malformed-line"},
          {"a frame at the margin and no sample", "55d0 leaf (/bin/demo)\n",
           "error malformed: there is no sample"},
          {"registers", kSampleHeader + kFrame + " ABI:2    BP:0x10    SP:0xffffc90003a6ff38 \n",
           "report registers"},
          {"a sample without a stack", kSampleHeader, "report no-stack"},
      });
}

TEST_CASE("perf script: a text that lost its indentation is the same profile") {
  for (const char* name : {"recorded-cpu-clock.txt", "recorded-two-events.txt", "fields-stack-default.txt",
                           "recorded-templates.txt", "dialects.txt"}) {
    INFO(name);
    const std::string text = read_bytes(reader_folder("perf-script") / "testdata" / name);
    for (const bool blank_lines : {true, false}) {
      std::string pasted;
      std::size_t n_frames = 0;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        // Places in the source have no form of their own without the blanks before them.
        if (line.starts_with("  ") && line[2] != ' ' && !line.starts_with("  PERF")) continue;
        n_frames += line.starts_with("\t") ? 1 : 0;
        line.erase(0, line.find_first_not_of(" \t"));
        if (blank_lines || !line.empty()) pasted += line + "\n";
      }
      const auto before = open_hidden(text), after = open_hidden(pasted);
      REQUIRE(before);
      REQUIRE(after);
      CHECK(after->decision.format == "perf-script");
      if (std::string_view(name) == "dialects.txt") continue;
      REQUIRE(n_frames > 0);
      const Profile &a = *before->profiles.front(), &b = *after->profiles.front();
      CHECK(a.n_samples() == b.n_samples());
      CHECK(a.tree().size() == b.tree().size());
      for (std::size_t m = 0; m < a.metrics().size(); ++m)
        CHECK(selfs(a, MetricId{m}) == selfs(b, MetricId{m}));
      CHECK_FALSE(after->report.has_losses());
    }
  }
}

TEST_CASE("perf script: a file cut inside a line leaves the half line out when only a prefix is read") {
  const std::string text = kSampleHeader + kFrame + "\t    55e0 ma";
  OpenOptions options;
  options.format = "perf-script";
  const auto whole = open_hidden(text, options);
  REQUIRE(whole);
  // A file that ends there was written so; a compressed stream that broke there was not.
  CHECK(whole->profiles.front()->functions().size() == 3);
}

TEST_CASE("perf script: inlined frames belong to the module of the frame that holds them") {
  const auto opened = open_hidden(
      kSampleHeader + "\t 10 inner (inlined)\n\t 10 outer (/bin/demo)\n\t 20 main (/bin/other)\n");
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  int n_inlined = 0;
  for (std::uint32_t i = 1; i < profile.tree().size(); ++i) {
    const std::uint32_t frame = profile.tree().frame[i];
    if (profile.function_name(profile.frames().function[frame]) != "inner") continue;
    ++n_inlined;
    CHECK(profile.frames().inlined[frame] == 1);
    CHECK(profile.strings()[profile.modules().name[profile.frames().module[frame].v]] == "/bin/demo");
  }
  CHECK(n_inlined == 1);
}

TEST_CASE("perf script: times count from the first sample and threads keep their ids") {
  const auto opened =
      open_hidden("two words 7/8 10.000000500: 4 cycles: \n" + kFrame + "\nx 9 9.5: 6 cycles: \n" + kFrame);
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  REQUIRE(profile.samples());
  CHECK(profile.samples()->time[0] == 500000500);
  CHECK(profile.samples()->time[1] == 0);
  CHECK(profile.info().duration_ns == 500000500);
  REQUIRE(profile.threads().size() == 2);
  CHECK(profile.strings()[profile.threads().name[0]] == "two words");
  CHECK(profile.threads().pid[0] == 7);
  CHECK(profile.threads().tid[0] == 8);
  CHECK(profile.threads().pid[1] == -1);
  CHECK(profile.threads().tid[1] == 9);
}

TEST_CASE("perf script: what is printed besides stacks does not change the stacks") {
  const auto folder = reader_folder("perf-script") / "testdata";
  for (const std::string kind : {"stack", "flat"}) {
    const auto plain = open_hidden(read_bytes(folder / ("fields-" + kind + "-default.txt")));
    REQUIRE(plain);
    const auto paths = [](const Profile& profile, bool with_process) {
      std::map<std::string, double> out;
      for (const auto& [path, value] : self_by_path(profile, "samples"))
        out[with_process ? path : path.substr(path.find(';') + 1)] += value;
      return out;
    };
    for (const std::string fields : {"addr", "ip", "comm", "period", "insn", "events"}) {
      INFO(kind << " " << fields);
      const auto other = open_hidden(read_bytes(folder / ("fields-" + kind + "-" + fields + ".txt")));
      REQUIRE(other);
      CHECK_FALSE(other->report.has_losses());
      const bool with_process = fields != "ip" && fields != "period";
      CHECK(paths(*other->profiles.front(), with_process) == paths(*plain->profiles.front(), with_process));
    }
  }
}

TEST_CASE("perf script: events of the recording are no samples") {
  const auto opened =
      open_hidden(kSampleHeader + kFrame +
                  "\ndemo 7 1.5: PERF_RECORD_COMM exec: demo:7/7\n"
                  "demo 7/7 1.6: PERF_RECORD_MMAP2 7/7: [0x55d0(0x1000) @ 0 00:00 0 0]: r-xp /x\n");
  REQUIRE(opened);
  CHECK(opened->profiles.front()->n_samples() == 1);
}

TEST_CASE("perf script: registers, rounds and namespaces are no losses") {
  const auto opened = open_hidden(
      "1-swapper     0     0.000000: PERF_RECORD_CGROUP cgroup: 1 /\n"
      "demo 7/7     0.500000: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\n"
      "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, 2/ipc: 4/0xefffffff, 3/pid: 4/0xeffffffc, \n"
      "\t\t 4/user: 4/0xeffffffd, 5/mnt: 4/0xeffffff8, 6/cgroup: 4/0xeffffffb]\n" +
      kSampleHeader + kFrame + " ABI:2    BP:0x10    SP:0xffffc90003a6ff38    IP:0xffffffff821f3125 \n" +
      "\n" + "PERF_RECORD_FINISHED_ROUND\n" + kSampleHeader + kFrame);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->n_samples() == 2);
  CHECK_FALSE(opened->report.has_losses());
}
