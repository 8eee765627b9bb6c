// Call trees and call logs in text against EXPECTED.tsv.
#include <cmath>
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("macos-sample corpus files agree with inferno") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "macos-sample")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    // inferno leaves out stacks that wait; all threads of the file have 825.
    CHECK(as_double(profile.total(MetricId{0u})) == 2475);
    auto self = selfs(profile, "samples");
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      // Where a function was sampled in two places inferno keeps one: the lines of __open in the file add up
      // to 1280.
      const bool open = name == "libsystem_kernel`__open";
      CHECK(self[name.substr(name.find('`') + 1)] == (open ? 1280 : std::stod(value)));
    }
  }
}

TEST_CASE("instruments corpus files agree with their own columns") {
  if (warn_without_corpus()) return;
  const auto open = [](const char* file) {
    return open_hidden(read_bytes(*corpus() / "instruments" / file));
  };
  const auto time = open("v7.3.1-simple-time-profile-deep-copy.txt");
  REQUIRE(time);
  CHECK(as_double(time->profiles[0]->total(MetricId{0u})) == 4273e6);
  for (const ExpectedRow& row : expected_rows(*corpus(), "instruments"))
    if (row.file.find("simple-time") != std::string::npos) {
      auto self = selfs(*time->profiles[0], "time");
      for (const auto& [name, value] : row.top_entries()) CHECK(self[name] == std::stod(value) * 1e6);
    }
  // The table's rows for the other two come from speedscope, which cuts weights to whole numbers of their
  // unit.
  const auto cycles = open("v13.4-cycles-example-deep-copy.txt");
  REQUIRE(cycles);
  CHECK(as_double(cycles->profiles[0]->total(MetricId{0u})) == Approx(96.08e9).epsilon(1e-3));
  const auto bytes = open("v7.3.1-random-allocations-deep-copy.txt");
  REQUIRE(bytes);
  CHECK(as_double(bytes->profiles[0]->total(MetricId{0u})) == Approx(429.93 * 1048576).epsilon(1e-3));
  CHECK(as_double(bytes->profiles[0]->total(MetricId{1u})) == 84671);
}

TEST_CASE("papyrus corpus files agree with speedscope") {
  if (warn_without_corpus()) return;
  for (const ExpectedRow& row : expected_rows(*corpus(), "papyrus")) {
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(as_double(opened->profiles[0]->total(MetricId{0u})) == std::stod(row.total) * 1e6);
    auto self = selfs(*opened->profiles[0], "wall");
    // The snapshot leaves the time in which calls wait for their turn with the stack.
    for (const auto& [name, value] : selfs(*opened->profiles[0], "wall"))
      if (name.starts_with("QUEUE ")) self["STACK 3185"] += value;
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value) * 1e6);
    }
  }
}

TEST_CASE("ghc-prof corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "ghc-prof")) {
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& profile = *opened->profiles[0];
    const std::string metric = row.metric.find("allocation") != std::string::npos ? "alloc" : "ticks";
    CHECK(as_double(profile.total(profile.find_metric(metric).value())) == std::stod(row.total));
    auto self = selfs(profile, metric);
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[name] == std::stod(value));
    }
    ++n_checked;
  }
  CHECK(n_checked == 6);
  // "total alloc" in the heads of the reports.
  const auto ticks = open_hidden(read_bytes(*corpus() / "ghc-prof/ticks.prof"));
  REQUIRE(ticks);
  CHECK(as_double(ticks->profiles[0]->total(ticks->profiles[0]->find_metric("alloc").value())) ==
        Approx(59542424).epsilon(0.01));
}
