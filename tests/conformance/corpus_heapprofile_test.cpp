// V8 heap profiles and Safari recordings against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("heapprofile and safari corpus files have the values of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const auto& [folder, metric, scale] :
       {std::tuple{"heapprofile", "size", 1.0}, std::tuple{"safari", "time", 1e9}}) {
    for (const ExpectedRow& row : expected_rows(*corpus(), folder)) {
      INFO(row.file);
      const auto opened = open_hidden(read_bytes(*corpus() / row.file));
      REQUIRE(opened);
      const Profile& profile = *opened->profiles.at(0);
      const MetricId id = profile.find_metric(metric).value();
      // Durations of Safari are rounded to nanoseconds one by one.
      CHECK(as_double(profile.total(id)) == Approx(std::stod(row.total) * scale).epsilon(1e-6));
      std::map<std::string, double> self;
      for (const auto& [name, value] : self_by_function(profile, id)) self[name] += value;
      for (const auto& [name, value] : row.top_entries()) {
        INFO(name);
        const std::string bare = name.starts_with("(anonymous ") ? "(anonymous)" : name;
        CHECK(self[bare] == Approx(std::stod(value) * scale).epsilon(1e-6));
      }
      ++n_checked;
    }
  }
  CHECK(n_checked == 3);
}
