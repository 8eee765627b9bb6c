#include "tests/conformance/bad_input/bad_input.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("gprof-text: bad input is refused or counted") {
  const std::string graph = "index % time    self  children    called     name\n";
  const std::string flat =
      "  %   cumulative   self              self     total\n time   seconds   seconds    calls  ms/call  "
      "ms/call  name\n";
  check_bad_inputs(
      "gprof-text",
      {
          {"another file", "hello\n", "error malformed: neither a flat profile"},
          {"a header alone", flat, "error malformed: no row"},
          {"a graph without blocks", graph, "error malformed: no row"},
          {"a block without its function", graph + "   0.60    0.00    4/4     main [1]\n-----\n",
           "error truncated: which function"},
          {"a line that is none", graph + "[1]    100.0    0.30    0.70    main [1]\n   what is this\n",
           "error malformed: line of the call graph"},
          {"a time that does not fit",
           flat + " 60.00      0.60     99999999999999.60        4   150.00   150.00  f\n",
           "error malformed: is no time"},
          {"times that do not fit together",
           graph +
               "[1]    100.0    0.30    0.70    main [1]\n  9223372036.0  9223372036.0    4/4     f [2]\n",
           "error malformed: too large"},
          {"calls inside a cycle",
           graph + "[1]    100.0    0.30    0.70    a <cycle 1> [1]\n   5     b <cycle 1> [2]\n",
           "report calls-inside-cycle"},
      });
}

TEST_CASE("gprof-text: the call graph of BSD, macOS and AIX has a header of three lines") {
  const auto read = read_with("gprof-text",
                              "granularity: each sample hit covers 4 byte(s) for 1.92% of 0.52 seconds\n\n"
                              "                                  called/total       parents \n"
                              "index  %time    self descendents  called+self    name    \tindex\n"
                              "                                  called/total       children\n\n"
                              "                                                     <spontaneous>\n"
                              "[1]     99.1    0.44        0.72                 .main [1]\n"
                              "                0.59        0.13    1024/1024        .fft [2]\n\n"
                              "-----------------------------------------------\n\n"
                              "                0.59        0.13    1024/1024        .main [1]\n"
                              "[2]     61.5    0.59        0.13    1024         .fft [2]\n"
                              "                0.13        0.00    1024/1024        .bit_reverse [3]\n\n"
                              "-----------------------------------------------\n\n"
                              "                0.13        0.00    1024/1024        .fft [2]\n"
                              "[3]     11.1    0.13        0.00    1024         .bit_reverse [3]\n\n\n\f\n"
                              "granularity: each sample hit covers 4 byte(s) for 1.92% of 0.52 seconds\n\n"
                              "  %   cumulative   self              self     total           \n"
                              " time   seconds   seconds    calls  ms/call  ms/call  name    \n"
                              " 50.9       0.59     0.59     1024     0.58     0.70  .fft [2]\n"
                              " 37.9       1.03     0.44                             .main [1]\n"
                              " 11.2       1.16     0.13     1024     0.13     0.13  .bit_reverse [3]\n");
  REQUIRE(read.error == "");
  const Profile& profile = *read.profiles[0];
  CHECK(self_by_path(profile, "time") == std::map<std::string, double>{{".main", 440e6},
                                                                       {".main;.fft", 590e6},
                                                                       {".main;.fft;.bit_reverse", 130e6}});
  CHECK(self_by_path(profile, "calls") ==
        std::map<std::string, double>{{".main;.fft", 1024}, {".main;.fft;.bit_reverse", 1024}});
}

TEST_CASE("gprof-text: callers without a block of their own are told by what they call") {
  const auto read = read_with("gprof-text",
                              "index % time    self  children    called     name\n"
                              "                0.00    0.00    1/2         .monstn [1281]\n"
                              "                0.00    0.00    1/2         .start [2]\n"
                              "[1]    100.0    0.30    0.00    2         .free [1]\n-----\n"
                              "[2]      0.0    0.00    0.00    1         .start [2]\n"
                              "                0.00    0.00    1/2         .free [1]\n-----\n");
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "calls") == 2);
}

TEST_CASE("gprof-text: a line of which only the flat profile tells is part of its function's total") {
  const auto read =
      read_with("gprof-text",
                "  %   cumulative   self              self     total\n"
                " time   seconds   seconds    calls  Ts/call  Ts/call  name\n"
                " 75.00      0.15     0.15                             leaf (a.c:5 @ 11d3)\n"
                " 25.00      0.20     0.05        2     0.00     0.00  leaf (a.c:4 @ 11c9)\n"
                "\n\f\nindex % time    self  children    called     name\n"
                "                0.05    0.00       2/2           main (a.c:9 @ 1200) [2]\n"
                "[1]     25.0    0.05    0.00       2         leaf (a.c:4 @ 11c9) [1]\n-----\n");
  REQUIRE(read.error == "");
  const StatedCosts::Functions& functions = read.profiles[0]->stated()->functions;
  double total = 0;
  for (std::size_t row = 0; row < functions.size(); ++row)
    if (functions.known[row] != 0)
      total += as_double(std::get<Column<std::int64_t>>(functions.totals[0])[row]);
  CHECK(total == 200e6);
}

TEST_CASE("gprof2dot-json: bad input is refused or counted") {
  const auto file = [](const std::string& events) {
    return R"({"version":0,"costs":[{"description":"c"}],"functions":[{"name":"f"}],"events":[)" + events +
           "]}";
  };
  check_bad_inputs(
      "gprof2dot-json",
      {
          {"another file", "hello\n", "error malformed: "},
          {"a newer version", R"({"version":1,"costs":[],"functions":[],"events":[]})",
           "error unsupported: version 1"},
          {"nothing in it", "{}", "error malformed: missing"},
          {"no costs", R"({"costs":[],"functions":[],"events":[]})", "error malformed: no cost"},
          {"cut off", R"({"costs":[{)", "error truncated: "},
          {"a function past the table", file(R"({"callchain":[1],"cost":[1]})"),
           "error malformed: function 1"},
          {"a function below zero", file(R"({"callchain":[-1],"cost":[1]})"), "error malformed: function -1"},
          {"too few costs", file(R"({"callchain":[0],"cost":[]})"), "error malformed: 0 costs"},
          {"too many costs", file(R"({"callchain":[0],"cost":[1,2]})"), "error malformed: 2 costs"},
          {"text for a cost", file(R"({"callchain":[0],"cost":["x"]})"), "error malformed: "},
          {"no events", file(""), "report no-samples"},
      });
}
