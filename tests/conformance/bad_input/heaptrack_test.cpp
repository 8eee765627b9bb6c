#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("heaptrack: bad input is refused or counted") {
  const std::string head = "v 10400 3\nX a\ns 4 main\ni 1000 0 1\nt 1 0\n";
  const std::string good = head + "a 10 1\n+ 0\n";
  check_bad_inputs(
      "heaptrack",
      {
          {"no version", "X a\ns main\n", "error malformed: no version"},
          {"a version that is no number", "v xyz\nX a\n", "error malformed: the version is no number"},
          {"a newer file version", "v 20000 4\nX a\n", "error unsupported: version 4 is newer"},
          {"a trace before its parent", head + "t 1 7\n", "error malformed: before its parent"},
          {"a trace before its pointer", head + "t 7 0\n", "error malformed: before its instruction pointer"},
          {"an allocation before its trace", head + "a 10 9\n", "error malformed: before its trace"},
          {"an allocation as large as no memory", head + "a ffffffffffffffff 1\n",
           "error malformed: larger than"},
          {"a string beyond the end", head + "s ffff short\n", "error malformed: beyond the end"},
          {"a pointer without an address", head + "i zz\n", "error malformed: no address"},
          {"a place that is no number", head + "i 10 0 x\n", "error malformed: is no number"},
          {"a trace that is no pair", head + "t 1\n", "error malformed: no pair"},
          {"an allocation of no kind", good + "+ 9\n", "report malformed-line"},
          {"a free of no kind", good + "- 9\n", "report malformed-line"},
          {"a line that is none", good + "? 1\n", "report malformed-line"},
          {"a free twice", good + "- 0\n- 0\n", "report free-without-allocation"},
          {"a free of unknown memory", "v 10000\nX a\ns main\ni 1000 0 1\nt 1 0\n+ 10 1 7000\n- 8000\n",
           "report unknown-free"},
          {"sums beyond int64", head + "a 7fffffffffffffff 1\n+ 0\n+ 0\n", "report overflow"},
          {"nothing allocated", head, "report no-allocations"},
      });
}
