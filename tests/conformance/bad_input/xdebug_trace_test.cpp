#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("xdebug-trace: bad input is refused or counted") {
  const std::string head = "Version: 3.2.0\nFile format: 4\nTRACE START [x]\n";
  const std::string main = "1\t0\t0\t0.1\t1000\t{main}\t1\t\t/a.php\t0\t0\n";
  std::string deep = head;
  for (int i = 0; i < 10001; ++i) deep += "1\t" + std::to_string(i) + "\t0\t0.1\t5\tf\t1\t\t/a.php\t1\t0\n";
  check_bad_inputs(
      "xdebug-trace",
      {
          {"no head", "hello\n", "error malformed: TRACE START"},
          {"a page for people", "<table class='xdebug-trace' dir='ltr'>\n",
           "error unsupported: page for people"},
          {"a trace for people", "TRACE START [x]\n", "error unsupported: for people"},
          {"no calls", head + "TRACE END\n", "error malformed: no calls"},
          {"too deep", deep, "error limit: stack_depth"},
          {"a time that is no number", head + main + "1\t0\t1\tx\t1\n", "report malformed-line"},
          {"a number that is none", head + main + "1\tx\t1\t0.2\t1\n", "report malformed-line"},
          {"negative memory", head + main + "1\t0\t1\t0.2\t-1\n", "report malformed-line"},
          {"a call without a name", head + main + "1\t2\t0\t0.2\t1\n", "report malformed-line"},
          {"a time beyond 64 bits", head + main + "1\t0\t1\t99999999999\t1\n", "report malformed-line"},
          {"an exit of no call", head + main + "1\t5\t1\t0.2\t1\n", "report unmatched-exit"},
          {"calls without an exit", head + main, "report unclosed-call"},
          {"time that runs backwards", head + main + "1\t0\t1\t0.05\t1\n", "report time-backwards"},
      });
}
