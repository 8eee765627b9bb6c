// TAU profiles against EXPECTED.tsv.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("TAU corpus profiles have the totals and top functions of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "tau")) {
    INFO(row.file << " " << row.metric);
    const bool folder = std::filesystem::is_directory(*corpus() / row.file);
    const auto opened =
        folder ? open_path((*corpus() / row.file).string()) : open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "tau");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    CHECK_FALSE(opened->report.has_losses());
    CHECK(total_of(profile, "TIME") == std::stod(row.total));
    CHECK(profile.metrics()[0].unit == "microseconds");
    if (row.metric == "time (inc)") continue;  // its top is inclusive
    ++n_checked;
    const auto self = self_by_function(profile, "TIME");
    if (folder) continue;  // its top is of single nodes and ranks
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self.at(name) == std::stod(value));
    }
  }
  CHECK(n_checked == 13);
}

TEST_CASE("TAU: the ranks of a folder are threads, user events a profile of their own") {
  if (warn_without_corpus()) return;
  const auto opened = open_path((*corpus() / "tau/tau-cpi-mpi").string());
  REQUIRE(opened.has_value());
  REQUIRE(opened->profiles.size() == 2);
  CHECK(opened->profiles[0]->threads().size() == 4);
  CHECK(opened->profiles[1]->info().name == "user events");
  CHECK(total_of(*opened->profiles[1], "events") == 8);
}
