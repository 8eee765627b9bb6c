// perf.data against EXPECTED.tsv: samples and periods by event as perf 6.1 counts them.
#include <numeric>

#include "core/model/branches.h"
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

// Counted of what `perf script -F brstack` 6.1 prints: entries that are not 0x0/0x0, and their neighbours.
TEST_CASE(
    "branch stacks of the corpus have as many branches, mispredictions, cycles and runs as perf prints") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "perf-data/perf.data.branch-4.14"));
  REQUIRE(opened.has_value());
  const BranchStacks* const branches = opened->profiles.front()->branches();
  REQUIRE(branches != nullptr);
  const auto sum = [](const Column<std::uint64_t>& column) {
    return std::accumulate(column.begin(), column.end(), std::uint64_t{0});
  };
  CHECK(branches->n_stacks == 13);
  CHECK(branches->taken.size() == 221);
  CHECK(sum(branches->taken.taken) == 387);
  CHECK(sum(branches->taken.judged) == 387);
  CHECK(sum(branches->taken.mispredicted) == 21);
  CHECK(sum(branches->taken.timed) == 386);
  CHECK(sum(branches->taken.cycles) == 50938);
  CHECK(sum(branches->runs.count) + branches->n_left_out == 374);
  CHECK(branches->n_left_out == 0);
}
