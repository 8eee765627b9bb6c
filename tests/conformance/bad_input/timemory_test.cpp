#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string tree(const std::string& nodes) {
  return "{\"timemory\":{\"WALL\":{\"unit_repr\":\"sec\",\"mpi\":[[" + nodes + "]]}}}";
}
std::string node(const std::string& value, const std::string& children = "") {
  return "{\"node\":{\"prefix\":\"f\",\"depth\":1,\"exclusive\":{\"entry\":{\"repr_data\":" + value +
         "}}},\"children\":[" + children + "]}";
}

}  // namespace

TEST_CASE("timemory: bad input is refused or counted") {
  check_bad_inputs("timemory", {
                                   {"another object", "{\"a\":1}", "error malformed: no object timemory"},
                                   {"no component", "{\"timemory\":{}}", "error malformed: no component"},
                                   {"a component without nodes", "{\"timemory\":{\"WALL\":{\"mpi\":[]}}}",
                                    "error malformed: no component"},
                                   {"nodes without values", tree("{\"node\":{\"prefix\":\"f\"}}"),
                                    "error malformed: no component"},
                                   {"a list of numbers", tree("1,2"), "error malformed: "},
                                   {"text behind the end", tree(node("1")) + "x", "error malformed: "},
                                   {"a negative value", tree(node("-1")), "report negative-self"},
                               });
}

TEST_CASE("timemory: 50,000 nodes below each other are read without recursion") {
  std::string text = node("1");
  std::string open, close;
  for (int i = 0; i < 50'000; ++i) {
    open +=
        "{\"node\":{\"prefix\":\"f\",\"depth\":1,\"exclusive\":{\"entry\":{\"repr_data\":1}}},\"children\":[";
    close += "]}";
  }
  const ReadOutcome read = read_with("timemory", tree(open + text + close));
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "WALL") == 50'001);
}

TEST_CASE("timemory: a flat graph is a tree by its depths") {
  const ReadOutcome read =
      read_with("timemory", read_bytes(reader_folder("timemory") / "testdata" / "flat.json"));
  REQUIRE(read.error == "");
  const auto self = self_by_path(*read.profiles[0], "cpu_clock");
  CHECK(self == std::map<std::string, double>{
                    {"main", 4}, {"main;inner", 3}, {"main;inner;deep", 1}, {"main;other", 2}});
}
