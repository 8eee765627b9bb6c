// Pages and texts of async-profiler against EXPECTED.tsv and against each other.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("async-profiler pages of the corpus agree with the stacks they were made from") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "async-profiler-html")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& p = *opened->profiles.front();
    CHECK(as_double(p.total(p.default_metric())) == std::stod(row.total));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(p, p.default_metric())) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked == 1);
  // async-profiler's own sample: 282 frames with `all`, 584 samples.
  const auto asset = open_hidden(read_bytes(*corpus() / "async-profiler-html/asset-flamegraph.html"));
  REQUIRE(asset);
  CHECK(asset->profiles.front()->tree().size() == 282);
  CHECK(as_double(asset->profiles.front()->total(MetricId{0u})) == 584);
}
