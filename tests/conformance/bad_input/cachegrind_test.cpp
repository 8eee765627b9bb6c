#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("cachegrind: bad input is refused or counted") {
  const std::string head = "desc: x\ncmd: ./a\nevents: Ir Dr\nfl=a.c\nfn=main\n";
  check_bad_inputs(
      "cachegrind",
      {
          {"another file", "hello\n", "error malformed: names the events"},
          {"no summary", head + "1 2 3\n", "error truncated: before its summary"},
          {"costs before events", "1 2\n", "error malformed: before the line that names"},
          {"costs before functions", "events: Ir\n1 2\n", "error malformed: first function"},
          {"events twice", head + "events: Ir\n", "error malformed: twice"},
          {"a line number above 32 bits", head + "4294967296 1\n", "error malformed: line number"},
          {"a negative cost", head + "1 -2\n", "error malformed: cost"},
          {"a cost above int64", head + "1 9223372036854775808\n", "error malformed: cost"},
          {"more costs than events", head + "1 1 2 3\nsummary: 1 2\n", "report extra-cost"},
          {"a summary that differs", head + "1 1 2\nsummary: 2 2\n", "report totals-differ"},
          {"a line of an unknown kind", head + "wat\nsummary: 0 0\n", "report unknown-line"},
      });
}
