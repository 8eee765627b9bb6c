#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("async-profiler-text: bad input is refused or counted") {
  const std::string head = "--- Execution profile ---\nTotal samples       : 5\n\n";
  std::string deep = head + "--- 5 ns (100.00%), 5 samples\n";
  for (int i = 0; i < 10001; ++i) deep += "  [" + std::to_string(i) + "] f\n";
  check_bad_inputs(
      "async-profiler-text",
      {
          {"only a head", head, "error malformed: neither traces nor a flat list"},
          {"a trace without frames", head + "--- 5 ns (100.00%), 5 samples\n", "error malformed: no frames"},
          {"a negative value", head + "--- -5 ns (100.00%), 5 samples\n  [ 0] a\n",
           "error malformed: neither traces"},
          {"too deep", deep, "error limit: stack_depth"},
          {"a line that means nothing", head + "--- 5 ns (1%), 5 samples\n  [ 0] a\n???\n",
           "report malformed-line"},
          {"another unit", head + "--- 5 ns (1%), 5 samples\n  [ 0] a\n--- 5 B (1%), 5 samples\n  [ 0] a\n",
           "report other-unit"},
          {"fewer samples than told", head + "--- 3 ns (1%), 3 samples\n  [ 0] a\n", "report left-out"},
          {"a flat list only", head + "   ns  percent  samples  top\n  1  1%  1  a\n", "report no-stacks"},
      });
}

TEST_CASE("async-profiler-text: a text of the corpus has its totals") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "async-profiler-text/ap45-cpu.txt"));
  REQUIRE(opened);
  const Profile& p = *opened->profiles.front();
  // awk over the file: the sums of the trace heads.
  CHECK(as_double(p.total(p.find_metric("samples").value())) == 976);
  CHECK(as_double(p.total(p.find_metric("time").value())) == 1969722045);
}
