// Xdebug traces against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE(
    "xdebug-trace corpus file has the calls of EXPECTED.tsv and the time between its first and last record") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "xdebug-trace")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    const MetricId calls = profile.find_metric("calls").value();
    CHECK(as_double(profile.total(calls)) == std::stod(row.total));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_function(profile, calls)) self[name] = value;
    for (const auto& [name, value] : row.top_entries()) CHECK(self[name] == std::stod(value));
    // {main} from 0.000165 to 0.001611 s.
    CHECK(as_double(profile.total(profile.find_metric("time").value())) == 1446000);
    ++n_checked;
  }
  CHECK(n_checked == 1);
}
