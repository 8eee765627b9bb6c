// Tables of Windows, FreeBSD and VTune against EXPECTED.tsv: gprof2dot, inferno, FlameGraph and speedscope.
#include <cmath>
#include <functional>
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

OpenedFile open_row(const ExpectedRow& row) {
  auto opened = open_hidden(read_bytes(*corpus() / row.file));
  REQUIRE(opened);
  return std::move(*opened);
}

double self_of(const Profile& profile, std::string_view metric, std::string_view function) {
  const auto sums = self_by_function(profile, metric);
  const auto found = sums.find(std::string(function));
  return found == sums.end() ? -1 : found->second;
}

// Sum over contexts that call nothing.
double sum_of_leaves(const Profile& profile, std::string_view metric,
                     const std::function<double(double)>& change) {
  const MetricId id = profile.find_metric(metric).value();
  double sum = 0;
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    const std::uint32_t context = profile.self().contexts[row];
    if (profile.tree().subtree_end[context] != context + 1) continue;
    sum += std::visit([&](const auto& column) { return change(static_cast<double>(column[row])); },
                      profile.self().values[id.v]);
  }
  return sum;
}

// gprof2dot: "val3.exe cycfn2=73.01% self".
void check_shares(const ExpectedRow& row, std::string_view metric, int& n) {
  const OpenedFile opened = open_row(row);
  const Profile& profile = *opened.profiles.front();
  const double total = total_of(profile, metric);
  for (const auto& [name, value] : row.top_entries()) {
    INFO(row.file << " " << name);
    const double self = self_of(profile, metric, name.substr(name.rfind(' ') + 1));
    CHECK(std::abs(100 * self / total - std::stod(value)) < 0.0051);
    ++n;
  }
}

}  // namespace

TEST_CASE("xperf, Very Sleepy and gprof-cc corpus files have the shares that gprof2dot finds") {
  if (warn_without_corpus()) return;
  int n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "xperf")) check_shares(row, "weight", n);
  for (const ExpectedRow& row : expected_rows(*corpus(), "sleepy")) check_shares(row, "time", n);
  for (const ExpectedRow& row : expected_rows(*corpus(), "vtune-gprofcc")) check_shares(row, "CPU Time", n);
  CHECK(n == 12);
}

TEST_CASE("gprof-cc corpus files have the functions and calls that gprof2dot draws") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "vtune-gprofcc")) {
    INFO(row.file);
    const OpenedFile opened = open_row(row);
    const Profile& profile = *opened.profiles.front();
    REQUIRE(profile.associations().size() == 1);
    CHECK(profile.associations()[0].name == "calls");
    CHECK(static_cast<double>(profile.associations()[0].contexts[0].size()) == std::stod(row.count));
    REQUIRE(profile.stated() != nullptr);
    CHECK(static_cast<double>(profile.stated()->functions.size()) == std::stod(row.total));
    CHECK_FALSE(opened.report.has_losses());
  }
}

TEST_CASE("VTune CSV corpus files agree with inferno, which counts milliseconds of each line") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "vtune-csv")) {
    const OpenedFile opened = open_row(row);
    const Profile& profile = *opened.profiles.front();
    double sum = 0;
    for (const auto& [path, seconds] : self_by_path(profile, "CPU Time")) sum += std::round(seconds * 1000);
    for (const auto& [name, value] : row.top_entries()) {
      const double self = self_of(profile, "CPU Time", name.substr(name.find('`') + 1));
      CHECK(std::abs(self * 1000 - std::stod(value)) < 2);
    }
    CHECK(sum == std::stod(row.total));
  }
}

TEST_CASE("Visual Studio CSV corpus files have the calls that FlameGraph counts at leaves") {
  if (warn_without_corpus()) return;
  int n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "visualstudio-csv")) {
    const OpenedFile opened = open_row(row);
    const Profile& profile = *opened.profiles.front();
    if (row.unit == "as the collapser counts")
      CHECK(sum_of_leaves(profile, "calls", [](double v) { return v; }) == std::stod(row.total));
    for (const auto& [name, value] : row.top_entries()) {
      CHECK(self_of(profile, "calls", name) == std::stod(value));
      ++n;
    }
  }
  CHECK(n == 6);
}

TEST_CASE("pmcstat corpus files agree with the collapsers on stacks that are there to their end") {
  if (warn_without_corpus()) return;
  int n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "pmcstat")) {
    const OpenedFile opened = open_row(row);
    const Profile& profile = *opened.profiles.front();
    std::map<std::string, double> whole;
    for (const auto& [path, value] : self_by_path(profile, profile.metrics().front().name)) {
      if (!path.starts_with("[callers not shown]")) whole[path.substr(path.rfind(';') + 1)] += value;
    }
    double sum = 0;
    for (const auto& [name, value] : whole) sum += value;
    CHECK(sum == std::stod(row.total));
    for (const auto& [name, value] : row.top_entries()) CHECK(whole[name] == std::stod(value));
    ++n;
  }
  CHECK(n >= 2);
}
