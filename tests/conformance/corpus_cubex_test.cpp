// Score-P reports against EXPECTED.tsv and the values that the Cube library exported, by call node.
#include <fstream>
#include <sstream>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("Score-P corpus reports have the totals that the Cube library exported") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "scorep-cubex")) {
    INFO(row.file << " " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "cubex");
    const Profile& profile = *opened->profiles.at(0);
    CHECK(broken_invariant(profile) == "");
    // All of time and visits is below call node 0, so exclusive and inclusive rows say the same.
    const std::string name = row.metric.substr(0, row.metric.find(' '));
    CHECK(total_of(profile, name) == Approx(std::stod(row.total)).epsilon(1e-6));
    ++n_checked;
  }
  CHECK(n_checked == 10);
}

TEST_CASE("Score-P corpus reports have the exclusive values of every call node") {
  if (warn_without_corpus()) return;
  for (const char* name : {"call_tree_test", "time.p4.n2000.x1.r0"}) {
    INFO(name);
    const auto opened = open_hidden(read_bytes(*corpus() / "scorep-cubex" / (std::string(name) + ".cubex")));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles.at(0);
    // Values of all call nodes as multisets: the exported table has ids, not names.
    std::ifstream in(*corpus() / "scorep-cubex" / "expected" / (std::string(name) + ".excl.csv"));
    std::string line;
    std::getline(in, line);
    std::map<std::string, double> visits_of, time_of;
    while (std::getline(in, line)) {
      std::vector<std::string> cells;
      std::stringstream text(line);
      for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
      visits_of[cells.at(0)] += std::stod(cells.at(2));
      time_of[cells.at(0)] += std::stod(cells.at(3));
    }
    std::vector<double> expected, found;
    for (const auto& [node, value] : time_of)
      if (value != 0) expected.push_back(value);
    std::map<std::uint32_t, double> by_context;
    const MetricId time = profile.find_metric("time").value();
    const auto& column = std::get<Column<double>>(profile.self().values[time.v]);
    for (std::size_t row = 0; row < profile.self().contexts.size(); ++row)
      if (column[row] != 0) by_context[profile.self().contexts[row]] += column[row];
    for (const auto& [context, value] : by_context) found.push_back(value);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-9));
  }
}
