#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("ruby-prof: bad input is refused or counted") {
  const auto head = [](const std::string& mode, const std::string& total) {
    return "Measure Mode: " + mode + "\nThread ID: 8\nFiber ID: 6\n" + total + "\nSort by: self_time\n\n";
  };
  const std::string flat_columns =
      " %self      total      self      wait     child     calls  name                           location\n";
  const std::string graph_columns =
      "  %total   %self      total       self       wait      child            calls     name       "
      "location\n";
  const std::string flat = head("wall_time", "Total: 1.000000") + flat_columns;
  const std::string graph = head("wall_time", "Total Time: 1.0") + graph_columns;
  const std::string a =
      " 50.00      1.000     0.500     0.000     0.500        1   A#a                            a.rb:1\n";
  const std::string dashes = std::string(150, '-') + "\n";
  const std::string block_a =
      " 100.00% 100.00%      1.000      1.000      0.000      0.000                1     A#a       \n";
  check_bad_inputs(
      "ruby-prof",
      {
          {"another file", "hello\n", "error malformed: no report of ruby-prof"},
          {"a head alone", head("wall_time", "Total: 1.0"), "error truncated: before its table"},
          {"a table without rows", flat, "error malformed: no row"},
          {"an unknown mode", head("moon_phase", "Total: 1.0") + flat_columns + a,
           "error unsupported: moon_phase"},
          {"a thread that is no number", "Measure Mode: wall_time\nThread ID: x\n",
           "error malformed: thread is no number"},
          {"a fiber that is no number", "Measure Mode: wall_time\nThread ID: 1\nFiber ID: 9e9\n",
           "error malformed: fiber is no number"},
          {"a total that is no number", head("wall_time", "Total: much") + flat_columns + a,
           "error malformed: total of a thread"},
          {"a total past 64 bits", head("wall_time", "Total: 1e300") + flat_columns + a,
           "error malformed: total of a thread"},
          {"no total", head("wall_time", "") + flat_columns + a, "error malformed: before the total"},
          {"memory of unknown unit",
           head("memory", "Total: 1.0") + " %self  total  self  wait  child  calls  name\n" + a,
           "error unsupported: unit"},
          {"a row that is none", flat + a + "what is this\n", "error malformed: flat profile is none"},
          {"a row that is cut", flat + a + " 50.00      1.0", "error truncated: cut off"},
          {"a time that does not fit",
           flat + " 50.00  99999999999999.000     0.500     0.000     0.500        1   A#a  \n",
           "error malformed: no number of nanoseconds"},
          {"half an allocation", head("allocations", "Total: 1.0") + flat_columns + a,
           "error malformed: no number of count"},
          {"calls past 64 bits",
           flat + " 50.00      1.000     0.500     0.000     0.500  99999999999999999999   A#a  \n",
           "error malformed: flat profile is none"},
          {"a line of a graph that is none", graph + dashes + block_a + "what\n",
           "error malformed: graph profile is none"},
          {"a block of two methods", graph + dashes + block_a + block_a, "error malformed: of two methods"},
          {"a block without its method",
           graph + dashes + block_a + dashes +
               "                      0.015      0.000      0.000      0.015              1/1     A#a\n",
           "error truncated: which method"},
          {"methods that are left out", flat + a, "report methods-left-out"},
          {"a share that is not that of the time",
           flat + " 90.00      1.000     0.500     0.000     0.500        1   A#a                            "
                  "a.rb:1\n",
           "report shares-disagree"},
          {"two methods of one name", flat + a + a, "report same-name"},
          {"a table without its end", flat + a, "report table-cut"},
          {"times in shares", flat + a, "report rounded-times"},
          {"more calls than calls",
           graph + dashes +
               "                      1.000      1.000      0.000      0.000              5/1     B#b\n" +
               block_a,
           "report calls-disagree"},
      });
}
