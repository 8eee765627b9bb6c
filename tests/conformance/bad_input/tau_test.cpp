#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string file(const std::string& n, const std::string& rows) {
  return n + " templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls\n" + rows;
}
const std::string kMain = "\"main\" 1 0 5 5 0 GROUP=\"A\" \n";

}  // namespace

TEST_CASE("tau: bad input is refused or counted") {
  check_bad_inputs(
      "tau",
      {
          {"another text", "hello\n", "error malformed: first line"},
          {"nothing behind the first line", "1 templated_functions\n", "error truncated: header"},
          {"fewer functions than said", file("3", kMain), "error truncated: functions"},
          {"cut off in a line", file("1", "\"main\" 1 0 5"), "error truncated: functions"},
          {"18 quintillion functions", file("18446744073709551615", kMain), "error truncated: functions"},
          {"no line is a function", file("1", "main 1 0 5 5\n"), "error malformed: none of"},
          {"one line is no function", file("2", kMain + "main 1 0 5 5\n"), "report malformed-line"},
          {"a number that is none", file("2", kMain + "\"b\" 1 0 x 5 0 GROUP=\"A\"\n"),
           "report malformed-line"},
          {"a negative time", file("1", "\"main\" 1 0 -5 5 0 GROUP=\"A\"\n"), "report negative-value"},
          {"paths that do not add up",
           file("3",
                "\"r\" 1 0 1 9 0 GROUP=\"A\"\n\"main\" 1 0 8 8 0 GROUP=\"A\"\n\"r => main\" 1 0 3 3 0 "
                "GROUP=\"TAU_CALLPATH\"\n"),
           "report total-differs"},
          {"a path without a caller",
           file("3",
                "\"r\" 1 0 1 9 0 GROUP=\"A\"\n\"r => r\" 1 0 1 1 0 GROUP=\"TAU_CALLPATH\"\n\"q => main\" 1 0 "
                "3 3 0 "
                "GROUP=\"TAU_CALLPATH\"\n"),
           "report path-without-caller"},
          {"a broken file in a folder",
           tar_bytes({{"profile.0.0.0", file("1", kMain)}, {"profile.1.0.0", file("2", kMain)}}),
           "error truncated: functions"},
          {"a file beside folders of metrics",
           tar_bytes({{"MULTI__TIME/profile.0.0.0", file("1", kMain)}, {"profile.1.0.0", file("1", kMain)}}),
           "report stale-file"},
      });
}

TEST_CASE("tau: paths cut at two components are joined where the caller is certain") {
  const ReadOutcome read =
      read_with("tau", read_bytes(reader_folder("tau") / "testdata" / "limited-depth.txt"));
  REQUIRE(read.error == "");
  const auto self = self_by_path(*read.profiles[0], "TIME");
  CHECK(self ==
        std::map<std::string, double>{{"root", 1}, {"root;a", 2}, {"root;a;b", 3}, {"root;a;b;c", 4}});
}

TEST_CASE("tau: samples below a timer are a metric of their own and count once") {
  const ReadOutcome read = read_with("tau", read_bytes(reader_folder("tau") / "testdata" / "sampled.txt"));
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "TIME") == 100);
  const auto sampled = self_by_path(*read.profiles[0], "TIME sampled");
  CHECK(sampled == std::map<std::string, double>{{".TAU application;main;work:9", 80}});
}
