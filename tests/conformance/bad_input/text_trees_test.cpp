// The readers of call trees and call logs in text.
#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("macos-sample: bad input is refused or counted") {
  const std::string head = "Call graph:\n    5 Thread_1\n";
  check_bad_inputs(
      "macos-sample",
      {
          {"no graph", "Analysis of sampling a (pid 1) every 1 millisecond\n",
           "error malformed: no call tree"},
          {"a line without a count", head + "    + start\n", "error malformed: no count"},
          {"an odd indentation", head + "    +  5 start\n", "error malformed: odd indentation"},
          {"a line without a caller", "Call graph:\n    +     5 start\n", "error malformed: no caller"},
          {"a line that skips a level", head + "    +     5 start\n", "report skipped-level"},
          {"callees above their caller", head + "    + 9 start  (in a)\n", "report uneven-count"},
          {"bytes that are no UTF-8",
           head + "    + 5 st\xff"
                  "art  (in a)\n",
           "report invalid-utf8"},
      });
}

TEST_CASE("instruments: bad input is refused or counted") {
  const std::string head = "Weight\tSelf Weight\t\tSymbol Name\n";
  check_bad_inputs(
      "instruments",
      {
          {"no header", "hello\n", "error malformed: the header"},
          {"no rows", head, "error malformed: no rows"},
          {"too few columns", head + "1 s\n", "error malformed: fewer columns"},
          {"a weight without a known unit", head + "1 parsec\t-\t \ta\n", "error malformed: known unit"},
          {"a self weight that is no number", head + "1 s\tx\t \ta\n", "error malformed: self weight"},
          {"a row below nothing", head + "1 s\t-\t \ta\n1 s\t-\t \t   b\n", "error malformed: not indented"},
          {"a count that is none", "Bytes Used\tCount\t\tSymbol Name\n1 KB\tx\t \ta\n",
           "error malformed: a count"},
          {"callees that count more", "Bytes Used\tCount\t\tSymbol Name\n1 KB\t1\t \ta\n1 KB\t5\t \t b\n",
           "report uneven-count"},
      });
}

TEST_CASE("papyrus: bad input is refused or counted") {
  check_bad_inputs(
      "papyrus",
      {
          {"no event", "Stack_1 log opened (PC)\n", "error malformed: no event"},
          {"a line that is no event", "1:PUSH:1:1:None:a\nhello\n", "report malformed-line"},
          {"a time beyond all", "1:PUSH:1:1:None:a\n99999999999999999:POP:1:1:None:a\n",
           "report malformed-line"},
          {"time that runs backwards", "9:PUSH:1:1:None:a\n5:POP:1:1:None:a\n", "report time-backwards"},
          {"an end without a begin", "9:POP:1:1:None:a\n", "report end-without-begin"},
          {"a begin without an end", "9:PUSH:1:1:None:a\n", "report open-call"},
      });
}

TEST_CASE("ghc-prof: bad input is refused or counted") {
  const std::string head = "\tMon Time and Allocation Profiling Report\n";
  const std::string table = head + "COST CENTRE MODULE no. entries %time %alloc %time %alloc\n";
  const std::string row = "MAIN MAIN 168 0 1.0 0.0 100.0 100.0\n";
  const std::string json =
      R"({"rts_arguments": [], "cost_centres": [{"id": 1, "label": "a", "module": "b"}], )";
  check_bad_inputs(
      "ghc-prof",
      {
          {"no table", head, "error malformed: no table"},
          {"an empty table", table, "error malformed: is empty"},
          {"a row of too few words", table + row + "MAIN 1\n", "report malformed-line"},
          {"a row with a word for a number", table + row + "MAIN MAIN 168 0 x 0.0 100.0 100.0\n",
           "report malformed-line"},
          {"a row below nothing", table + row + "   MAIN MAIN 168 0 1.0 0.0 100.0 100.0\n",
           "error malformed: not indented"},
          {"JSON without a profile", json + "\"x\": 1}", "error malformed: no profile"},
          {"an unknown cost centre", json + R"("profile": {"id": 9}})", "error malformed: no cost centre"},
          {"a node without an id", json + R"("profile": {"ticks": 1}})", "error malformed: no id"},
          {"children before the id", json + R"("profile": {"children": []}})",
           "error malformed: before its id"},
          {"a negative value", json + R"("profile": {"id": 1, "ticks": -4}})", "error malformed: negative"},
          {"JSON that is cut", json + R"("profile": {"id": 1)", "error truncated: "},
      });
}

TEST_CASE("ghc-prof: a JSON report 20,000 cost centres deep is read") {
  std::string deep =
      R"({"rts_arguments": [], "cost_centres": [{"id": 1, "label": "a", "module": "b"}], "profile": )";
  for (int i = 0; i < 20000; ++i) deep += R"({"id": 1, "ticks": 1, "children": [)";
  for (int i = 0; i < 20000; ++i) deep += "]}";
  const auto opened = open_hidden(deep + "}");
  REQUIRE(opened);
  CHECK(opened->profiles.front()->tree().size() == 20001);
}
