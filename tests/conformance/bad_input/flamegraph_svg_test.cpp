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
