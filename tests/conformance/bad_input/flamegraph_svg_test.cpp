#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string drawing(const std::string& inside) {
  return "<svg xmlns='http://www.w3.org/2000/svg'><g id=\"frames\">" + inside + "</g></svg>";
}

std::string box(const std::string& title, const std::string& place) {
  return "<g><title>" + title + "</title><rect height='15' " + place + "/></g>";
}

const std::string kAll = box("all (10 samples, 100%)", "x='0' y='50' width='100'");

}  // namespace

TEST_CASE("flamegraph-svg: bad input is refused or counted") {
  check_bad_inputs(
      "flamegraph-svg",
      {
          {"no boxes", drawing(""), "error malformed: no box"},
          {"what inferno writes for no input",
           std::string("<svg><text>ERROR: No valid input provided</text></svg>"),
           "error malformed: No valid input"},
          {"what flameprof draws",
           "<svg><svg class=\"func_g\" x=\"0\" y=\"9\" width=\"9\" height=\"23\"><g><title>~:0:a 100.00% (1 "
           "1 1 "
           "1)</title><rect height=\"100%\" width=\"100%\"/></g></svg></svg>",
           "error unsupported: flameprof"},
          {"no XML", "digraph {}", "error malformed: XML"},
          {"cut off", "<svg><g><title>all (1 samples, 100%)</title>", "error truncated: ends inside"},
          {"entities of its own", "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>",
           "error unsupported: entities"},
          {"a box without a count", drawing(kAll + box("note", "x='0' y='34' width='10'")),
           "report not-a-frame"},
          {"a box that stands on nothing",
           drawing(kAll + box("a (1 samples, 10%)", "x='500' y='34' width='10'")), "report no-parent"},
          {"children wider than their parent",
           drawing(kAll + box("a (11 samples, 110%)", "x='0' y='34' width='100'")), "report children-exceed"},
          {"two units", drawing(kAll + box("a (1 ms, 10%)", "x='0' y='34' width='10'")), "report other-unit"},
          {"a place that is no number",
           drawing(kAll + box("a (1 samples, 10%)", "x='nan' y='34' width='10'")), "report not-a-frame"},
      });
}

TEST_CASE("flamegraph-svg: a drawing gives back the folded stacks it was made from") {
  const auto folded =
      read_with("folded", read_bytes(reader_folder("folded") / "testdata/recorded-py-spy.folded"));
  REQUIRE(folded.error == "");
  const auto expected = self_by_path(*folded.profiles[0], "samples");
  for (const char* name : {"recorded-inferno.svg", "recorded-inferno-icicle.svg"}) {
    INFO(name);
    const auto drawn =
        read_with("flamegraph-svg", read_bytes(reader_folder("flamegraph-svg") / "testdata" / name));
    REQUIRE(drawn.error == "");
    CHECK(self_by_path(*drawn.profiles[0], drawn.profiles[0]->metrics()[0].name) == expected);
  }
}

TEST_CASE("flamegraph-svg: boxes of no width stand on one that has room for them") {
  const auto read =
      read_with("flamegraph-svg", drawing(box("all (10 samples, 100%)", "x='10' y='66' width='100'") +
                                          box("b (1 samples, 10%)", "x='10' y='50' width='0'") +
                                          box("b1 (1 samples, 10%)", "x='10' y='34' width='0'") +
                                          box("a (9 samples, 90%)", "x='10' y='50' width='99'") +
                                          box("a1 (9 samples, 90%)", "x='10' y='34' width='99'")));
  REQUIRE(read.error.empty());
  CHECK(self_by_path(*read.profiles.at(0), "samples") ==
        std::map<std::string, double>{{"a;a1", 9}, {"b;b1", 1}});
  CHECK(n_reported(read, "children-exceed") == 0);
}
