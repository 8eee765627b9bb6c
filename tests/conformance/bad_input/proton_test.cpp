#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

std::string node_of(const std::string& metrics, const std::string& children = "") {
  return R"({"frame":{"name":"f"},"metrics":{)" + metrics + R"(},"children":[)" + children + "]}";
}

}  // namespace

TEST_CASE("proton: bad input is refused or counted") {
  std::string deep = "[", many;
  for (int i = 0; i < 400; ++i) deep += R"({"frame":{"name":"f"},"children":[)";
  for (int i = 0; i < 65; ++i) many += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":1";
  check_bad_inputs(
      "proton",
      {
          {"no list", "{}", "error malformed: expected an array"},
          {"an empty list", "[]", "error malformed: a tree with a frame"},
          {"devices alone", R"([{"CUDA":{}}])", "error malformed: a tree with a frame"},
          {"a list of numbers", "[5]", "error malformed: expected an object"},
          {"a node without a frame", "[" + node_of("", "{}") + "]", "error malformed: has no frame"},
          {"a child that is none", "[" + node_of("", "5") + "]", "error malformed: expected an object"},
          {"a name that is none", R"([{"frame":{"name":5}}])", "error malformed: expected a string"},
          {"a tree that is cut", "[" + node_of("").substr(0, 30), "error truncated: "},
          {"something behind", "[" + node_of("\"a\":1") + "] 5", "error malformed: expected the end"},
          {"too deep", deep, "error limit: nesting"},
          {"no metrics", "[" + node_of("") + "]", "error malformed: no metric"},
          {"no values", "[" + node_of("\"a\":0") + "]", "report no-values"},
          {"a metric that is a list", "[" + node_of("\"a\":[1],\"b\":1") + "]", "report other-metric"},
          {"more metrics than are kept", "[" + node_of(many) + "]", "report too-many-metrics"},
          {"a name that is no text", R"([{"frame":{"name":"\ud800"},"metrics":{"a":1}}])",
           "report invalid-text"},
      });
}

TEST_CASE("proton: values are a node's own, by device, whole where all are") {
  const auto read = read_with("proton", read_bytes(reader_folder("proton") / "testdata/minimal.hatchet"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(p.metrics()[0].name == "time");
  CHECK(p.metrics()[0].unit == "nanoseconds");
  CHECK(self_by_path(p, "time") == Paths{{"forward;matmul", 1500}, {"copy", 500}});
  CHECK(self_by_path(p, "flops8") == Paths{{"forward;matmul", 2e9}});
  CHECK(self_by_path(p, "util") == Paths{{"forward;matmul", 0.25}});
  CHECK(std::holds_alternative<std::int64_t>(p.total(p.find_metric("flops8").value())));
  CHECK(std::holds_alternative<double>(p.total(p.find_metric("util").value())));
  CHECK(p.labels().n_sets() == 2);
}

TEST_CASE("proton files of the corpus have the times of EXPECTED.tsv") {
  if (warn_without_corpus_2026()) return;
  std::size_t n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus_2026(), "proton")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus_2026() / row.file));
    REQUIRE(opened);
    CHECK(opened->decision.format == "proton");
    CHECK(opened->decision.certain);
    CHECK_FALSE(opened->report.has_losses());
    const Profile& p = *opened->profiles[0];
    CHECK(total_of(p, "time") == std::stod(row.total));
    CHECK(p.n_samples() == std::stoull(row.count));
    const auto self = self_by_function(p, "time");
    for (const auto& [name, value] : row.top_entries()) CHECK(self.at(name) == std::stod(value));
    if (row.file == "proton/cuda.hatchet") {
      CHECK(total_of(p, "count") == 11);
      CHECK(total_of(p, "bytes") == 110000000);
      CHECK(total_of(p, "flops8") == 1.1e11);
    }
    ++n;
  }
  CHECK(n == 2);
}
