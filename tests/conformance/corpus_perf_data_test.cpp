// perf.data against EXPECTED.tsv: samples and periods by event as perf 6.1 counts them.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::size_t n_with_value(const Profile& profile, MetricId metric) {
  std::size_t n = 0;
  std::visit(
      [&](const auto& column) {
        n = static_cast<std::size_t>(
            std::count_if(column.begin(), column.end(), [](auto v) { return v != 0; }));
      },
      profile.samples()->values[metric.v]);
  return n;
}

}  // namespace

TEST_CASE("perf.data corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_totals = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "perf-data")) {
    if (row.total.empty()) continue;
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    const auto metric = profile.find_metric(row.metric);
    CHECK(metric.has_value());
    if (!metric) {
      for (const MetricInfo& m : profile.metrics()) WARN(row.file << " has " << m.name);
      continue;
    }
    CHECK(as_double(profile.total(*metric)) == std::stod(row.total));
    REQUIRE(profile.samples());
    CHECK(n_with_value(profile, *metric) == std::stoul(row.count));
    ++n_totals;
  }
  CHECK(n_totals >= 26);
}
