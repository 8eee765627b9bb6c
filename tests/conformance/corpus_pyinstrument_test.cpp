// pyinstrument files against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("pyinstrument corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "pyinstrument")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.front();
    CHECK(as_double(profile.total(MetricId{0u})) == Approx(std::stod(row.total) * 1e9).epsilon(1e-8));
    std::map<std::string, double> self;
    for (const auto& [name, value] : self_by_raw_function(profile, MetricId{0u})) self[name] = value;
    // The table counts `[self]` as a function; here it is the self time of the function it stands in.
    CHECK_FALSE(self.contains("[self]"));
    const bool split = row.top.find("[self]") != std::string::npos;
    for (const auto& [name, value] : row.top_entries()) {
      if (name == "[self]") continue;
      INFO(name);
      REQUIRE(self.contains(name));
      if (split)
        CHECK(self.at(name) >= std::stod(value) * 1e9 - 2000);
      else
        CHECK(self.at(name) == Approx(std::stod(value) * 1e9).margin(1000));
    }
    ++n_checked;
  }
  CHECK(n_checked == 5);
}

TEST_CASE("pyinstrument: a session and the JSON made from it agree") {
  if (warn_without_corpus()) return;
  const auto session = open_hidden(read_bytes(*corpus() / "pyinstrument/demo.pyisession"));
  const auto tree = open_hidden(read_bytes(*corpus() / "pyinstrument/demo-renderer.json"));
  REQUIRE((session && tree));
  CHECK(session->profiles[0]->n_samples() == 275);
  CHECK(tree->profiles[0]->n_samples() == 275);
  const auto of = [](const Profile& profile, const std::string& name) {
    for (const auto& [function, value] : self_by_function(profile, MetricId{0u})) {
      if (function == name) return value;
    }
    return 0.0;
  };
  for (const std::string name : {"words", "dict.get"})
    CHECK(of(*session->profiles[0], name) == Approx(of(*tree->profiles[0], name)).margin(1000));
}
