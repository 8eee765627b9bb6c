#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string chain(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += R"({"name":"f","value":1,"children":[)";
  for (int i = 0; i < depth; ++i) text += "]}";
  return text;
}

}  // namespace

TEST_CASE("d3-flamegraph: bad input is refused or counted") {
  check_bad_inputs(
      "d3-flamegraph",
      {
          {"no bytes of a tree", "[]", "error malformed: no frames"},
          {"a number", "5", "error malformed: "},
          {"cut off", R"({"name":"a","children":[{"name":)", "error truncated: "},
          {"a child that is no object", R"({"name":"a","children":[5]})", "error malformed: "},
          {"something behind", R"({"name":"a","value":1,"children":[]} x)", "error malformed: "},
          {"too deep", chain(10002), "error limit: stack_depth"},
          {"a negative value", R"({"name":"a","value":-1,"children":[]})", "report negative-value"},
          {"sums beyond 64 bits",
           R"({"name":"a","children":[{"name":"b","value":9223372036854775807},{"name":"c","value":1}]})",
           "report value-too-large"},
          {"a page without a tree", "<html><style>.d3-flame-graph</style></html>",
           "error unsupported: the page has no"},
          {"a page that is cut off", "<html>d3-flame<script>const stacks = [{\"n\":\"a\"",
           "error truncated: "},
          {"keys of their own", R"({"name":"a","value":1,"x":[1,{"y":2}]})", "report other-key"},
          {"own values", R"({"name":"a","value":1,"children":[{"name":"b","value":2}]})",
           "report own-values"},
      });
}

TEST_CASE("d3-flamegraph: values are inclusive, or each frame's own where that cannot be") {
  using Paths = std::map<std::string, double>;
  const auto inclusive =
      read_with("d3-flamegraph", read_bytes(reader_folder("d3-flamegraph") / "testdata/minimal.json"));
  REQUIRE(inclusive.error == "");
  CHECK(self_by_path(*inclusive.profiles[0], "value") ==
        Paths{{"main", 25}, {"main;parse", 40}, {"main;read", 25}, {"idle", 10}});
  const auto own =
      read_with("d3-flamegraph", read_bytes(reader_folder("d3-flamegraph") / "testdata/own-values.json"));
  REQUIRE(own.error == "");
  CHECK(self_by_path(*own.profiles[0], "value") ==
        Paths{{"main", 2}, {"main;do_syscall", 5}, {"main;do_syscall;x", 1.5}});
  CHECK(self_by_path(*own.profiles[0], "delta") == Paths{{"main", 1}, {"main;do_syscall", -2}});
  const auto silent =
      read_with("d3-flamegraph", read_bytes(reader_folder("d3-flamegraph") / "testdata/no-values.json"));
  REQUIRE(silent.error == "");
  CHECK(self_by_path(*silent.profiles[0], "value") == Paths{{"program;mid;leaf", 3}, {"program;leaf", 4}});
}

TEST_CASE("d3-flamegraph: a stack of 9,000 frames is read") {
  const auto deep = read_with("d3-flamegraph", chain(9000));
  REQUIRE(deep.error == "");
  CHECK(deep.profiles[0]->tree().size() == 9001);
}

TEST_CASE("d3-flamegraph corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "d3-flamegraph")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& p = *opened->profiles.front();
    // The table takes the values of this file for inclusive ones, which they are not: its root has 0, and
    // 3,273 frames less than their children.
    const bool own = row.file.ends_with("differential.json");
    CHECK(as_double(p.total(MetricId{0u})) == (own ? 27720 : std::stod(row.total)));
    CHECK(p.tree().size() == std::stoull(row.count));
    std::map<std::string, double> self;
    for (const auto& [name, value] : profd::test::self_by_function(p, MetricId{0u})) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) {
      if (own && name == "page_fault") continue;
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked == 2);
}
