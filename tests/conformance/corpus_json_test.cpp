// cpuprofile and speedscope files against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

double ns_per(const std::string& unit) {
  return unit == "seconds" ? 1e9 : 1;
}

}  // namespace

TEST_CASE("cpuprofile corpus files have the samples of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "cpuprofile")) {
    if (row.metric != "samples") continue;
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.at(0);
    const MetricId samples = profile.find_metric("samples").value();
    CHECK(as_double(profile.total(samples)) == std::stod(row.total));
    auto self = selfs(profile, samples);
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked == 2);
}

// speedscope gives the last sample no time; here it lasts until endTime (1,972 us in chrome65-simple).
TEST_CASE("cpuprofile corpus files have the times of EXPECTED.tsv and the last sample's") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "cpuprofile/chrome65-simple.cpuprofile"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  CHECK(as_double(profile.total(profile.find_metric("time").value())) == (34345 + 1972) * 1000.0);
  // The same recording in the old layout; its endTime is in whole seconds, before the last sample.
  const auto old = open_hidden(read_bytes(*corpus() / "cpuprofile/node10-example.cpuprofile"));
  REQUIRE(old.has_value());
  CHECK(as_double(old->profiles.at(0)->total(old->profiles.at(0)->find_metric("time").value())) ==
        34345000.0);
}

TEST_CASE("speedscope corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  // Profiles of one unit are threads of one profile here: rows of a file add up.
  std::map<std::string, std::map<std::string, double>> expected;
  std::map<std::string, double> scale;
  for (const ExpectedRow& row : expected_rows(*corpus(), "speedscope")) {
    if (row.file.find("invalid") != std::string::npos) continue;
    scale[row.file] = ns_per(row.unit);
    for (const auto& [name, value] : row.top_entries()) expected[row.file][name] += std::stod(value);
  }
  CHECK(expected.size() == 5);
  for (const auto& [file, functions] : expected) {
    INFO(file);
    const auto opened = open_hidden(read_bytes(*corpus() / file));
    REQUIRE(opened.has_value());
    REQUIRE(opened->profiles.size() == 1);
    auto self = selfs(*opened->profiles[0], MetricId{0u});
    for (const auto& [name, value] : functions) {
      INFO(name);
      CHECK(self[name] == Approx(value * scale[file]).epsilon(1e-8));
    }
  }
}
