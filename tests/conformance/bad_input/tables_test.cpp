#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"

using namespace profd::test;

TEST_CASE("VTune CSV: bad input is refused or counted") {
  const std::string head = "Function Stack,CPU Time:Self,Module\n";
  std::string deep = head;
  for (int i = 0; i < 10002; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "f,1,m\n";
  check_bad_inputs("vtune-csv",
                   {
                       {"nothing of the kind", "a,b\n1,2\n", "error malformed: `Function Stack`"},
                       {"no self values", "Function Stack,Module\nmain,x\n", "error malformed: self values"},
                       {"no rows", head, "error malformed: no function"},
                       {"too deep", deep, "error limit: stack_depth"},
                       {"a time that is none", head + "main,much,x\n", "report malformed-line"},
                       {"values are missing", head + "main\n", "report malformed-line"},
                       {"a level without a parent", head + "main,1,x\n   f,1,x\n", "report malformed-line"},
                       {"a quote without an end", head + "main,1,x\n \"f,1,x\n", "report malformed-line"},
                   });
}

TEST_CASE("Visual Studio CSV: bad input is refused or counted") {
  const std::string head = "Level,Function Name,Number of Calls,Exclusive Samples,Module Name,\n";
  const std::string good = head + "0,main,1,2,x,\n";
  check_bad_inputs(
      "visualstudio-csv",
      {
          {"another header", "This is not a correct header", "error malformed: `Level`"},
          {"no values", "Level,Function Name,Module Name\n0,main,x\n", "error malformed: exclusive"},
          {"no rows", head, "error malformed: no function"},
          {"a level that is none", good + "x,f,1,1,x,\n", "report malformed-line"},
          {"a level without a parent", good + "5,f,1,1,x,\n", "report malformed-line"},
          {"a number that is none", good + "1,f,many,1,x,\n", "report malformed-line"},
          {"too few fields", good + "1,f\n", "report malformed-line"},
          {"a row that ends before a share",
           "Level,Function Name,Number of Calls,Exclusive Samples %\n0,main,2,7\n1,f,1\n",
           "report malformed-line"},
      });
}

TEST_CASE("xperf: bad input is refused or counted") {
  const std::string head = "Process, Stack, Address, Weight, Count, TimeStamp\n";
  const std::string good = head + "x (1), [Root]/a!b, 0x10, 1.5, 1, 2.5\n";
  check_bad_inputs(
      "xperf",
      {
          {"another header", "a, b, c\n1, 2, 3\n", "error malformed: `Stack` and `Weight`"},
          {"no rows", head, "error malformed: no sample"},
          {"a weight that is none", good + "x (1), a!b, 0x10, heavy, 1, 2\n", "report malformed-line"},
          {"a count below zero", good + "x (1), a!b, 0x10, 1, -1, 2\n", "report malformed-line"},
          {"a time beyond all times", good + "x (1), a!b, 0x10, 1, 1, 99999999999999\n",
           "report malformed-line"},
          {"a comma in a name", good + "x (1), a!f<int, int>, 0x10, 1, 1, 2\n", "report malformed-line"},
          {"an address that is none", good + "x (1), a!b, here, 1, 1, 2\n", "report malformed-line"},
      });
}

TEST_CASE("pmcstat: bad input is refused or counted") {
  const std::string head = "@ cycles [10 samples]\n\n";
  const std::string good = head + "100.0%  [10]   f @ /x\n";
  check_bad_inputs(
      "pmcstat",
      {
          {"no event", "100.0%  [10]   f @ /x\n", "error malformed: no line reads"},
          {"no function", head, "error malformed: no function has samples"},
          {"a count that is none", good + " 100.0%  [x]   g\n", "report malformed-line"},
          {"a level without a callee", good + "     100.0%  [10]   g\n", "report malformed-line"},
          {"callers with more than there is", good + " 100.0%  [99]   g\n", "report count-too-large"},
          {"functions that are not listed", head + "10.00%  [1]  f @ /x\n", "report unlisted-samples"},
      });
}

TEST_CASE("gprof-cc: bad input is refused or counted") {
  const std::string head =
      "Index  % CPU Time:Total  CPU Time:Self  CPU Time:Children  Name                          Index\n"
      "-----  ----------------  -------------  -----------------  ----------------------------  -----\n";
  const std::string good =
      head +
      "[0]    100.0             1.5            0.0                main                          [0]\n\n";
  const std::string end = "Index by function name\n";
  check_bad_inputs(
      "vtune-gprofcc",
      {
          {"another header", "Index by Name\n---- ----\n", "error malformed: header of a gprof-cc report"},
          {"no function", head + end, "error malformed: no function is described"},
          {"no end", good, "error truncated: before its index of names"},
          {"a time that is none",
           good +
               "[1]    100.0             much           0.0                f                             "
               "[1]\n\n" +
               end,
           "report malformed-line"},
          {"a function described twice",
           good +
               "[0]    100.0             1.5            0.0                main                          "
               "[0]\n\n" +
               end,
           "report malformed-line"},
          {"a callee that is not described",
           head +
               "[0]    100.0             1.5            0.0                main                          "
               "[0]\n" +
               "                         0.5            0.0                  f                           "
               "[7]\n\n" +
               end,
           "report unlisted-function"},
      });
}
