// timemory against EXPECTED.tsv.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("the timemory corpus file has the sums of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "timemory")) {
    if (row.metric != "sum.wall_clock") continue;  // minima, maxima and squares are no sums
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "timemory");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(total_of(profile, "wall_clock") == Approx(std::stod(row.total)).epsilon(1e-9));
    CHECK(profile.metrics()[0].unit == "seconds");
    const auto self = self_by_function(profile, "wall_clock");
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self.at(name) == Approx(std::stod(value)).epsilon(1e-9));
    }
    CHECK(profile.threads().size() == 2);
    ++n_checked;
  }
  CHECK(n_checked == 1);
}
