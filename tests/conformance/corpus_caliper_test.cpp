// Caliper files against EXPECTED.tsv: caliper-reader's columns as stored, hatchet's exclusive sums.
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kOutside = "(outside any region)";

// Sum of the inclusive values of all contexts: what a column of inclusive values adds up to.
double sum_of_inclusive(const Profile& profile, MetricId metric) {
  std::vector<double> total(profile.tree().size(), 0);
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row)
    total[profile.self().contexts[row]] += std::get<Column<double>>(profile.self().values[metric.v])[row];
  double sum = 0;
  for (std::size_t c = total.size(); c-- > 1;) {
    sum += total[c];
    total[profile.tree().parent[c]] += total[c];
  }
  return sum;
}

bool contains(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("Caliper corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_inclusive = 0, n_exclusive = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "caliper")) {
    if (row.metric.starts_with("min#") || row.metric.starts_with("max#") || row.metric.starts_with("avg#"))
      continue;
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "caliper");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    std::string name = row.metric;
    if (name.starts_with("time")) name = profile.find_metric("time") ? "time" : "sum#time.duration";
    if (contains(name, "inclusive#")) {
      if (profile.find_metric("Total time"))
        name = "Total time";
      else
        name.erase(name.find("inclusive#"), 10);
    }
    const auto metric = profile.find_metric(name);
    REQUIRE(metric.has_value());
    if (contains(row.metric, "inclusive#")) {
      CHECK(sum_of_inclusive(profile, *metric) == Approx(std::stod(row.total)).epsilon(1e-9));
      ++n_inclusive;
      continue;
    }
    auto self = self_by_function(profile, name);
    // hatchet leaves out what is outside any region.
    const double outside = contains(row.how, "hatchet") ? self[kOutside] : 0;
    CHECK(as_double(profile.total(*metric)) - outside == Approx(std::stod(row.total)).epsilon(1e-9));
    ++n_exclusive;
    if (row.metric == "time (inc)" || contains(row.file, "cpi-callpath"))
      continue;  // tops of single nodes, of lines
    for (const auto& [function, value] : row.top_entries()) {
      INFO(function);
      CHECK(self[function] == Approx(std::stod(value)).epsilon(1e-6));
    }
  }
  CHECK(n_inclusive == 11);
  CHECK(n_exclusive >= 8);
}

TEST_CASE("Caliper: sampled stacks have source lines and modules, ranks are threads") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "caliper/cpi-callpath-profile.json"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  CHECK(profile.threads().size() == 4);
  CHECK(profile.modules().size() > 3);
  CHECK(self_by_function(profile, "count").at("main") == 255);
}
