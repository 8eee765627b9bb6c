#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd::test;

TEST_CASE("perf-PID.map: bad input is refused or counted") {
  const std::string good = "7f0000001000 40 fine\n";
  check_bad_inputs(
      "perf-map",
      {
          {"prose", "this is no map\nat all\n", "error malformed: no line"},
          {"a size that is no number", good + "7f0000001000 zz name\n", "report malformed-line"},
          {"a range that wraps around", good + "ffffffffffffffff 10 name\n", "report malformed-line"},
          {"no name", good + "7f0000001000 10\n", "report malformed-line"},
          {"a size beyond 63 bits", good + "1000 f000000000000000 name\n", "report count-too-large"},
          {"bytes that are no UTF-8", good + "1000 10 \xff\xfe\n", "report invalid-utf8"},
      });
}
