// massif and DHAT files against EXPECTED.tsv.
#include <map>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string property(const Profile& profile, std::string_view name) {
  for (const auto& [key, value] : profile.info().properties)
    if (key == name) return value;
  return {};
}

}  // namespace

TEST_CASE("massif corpus files have the snapshots of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "massif")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "massif");
    const Profile& first = *opened->profiles.at(0);
    // "snapshot 54, time 27405127, extra 64426, stacks 0; peak marked: 54; detailed: 9": the highest one.
    const std::string series = property(first, "snapshots");
    CHECK(std::count(series.begin(), series.end(), '\n') - 1 == std::stol(row.count));
    long number = 0, time = 0, extra = 0, stacks = 0;
    REQUIRE(std::sscanf(row.top.c_str(), "snapshot %ld, time %ld, extra %ld, stacks %ld", &number, &time,
                        &extra, &stacks) == 4);
    CHECK(series.find(fmt::format("\n{},{},{},{},{},", number, time, row.total, extra, stacks)) !=
          std::string::npos);
    const std::size_t peak = row.top.find("peak marked: ");
    const std::string marked = row.top.substr(peak + 13, row.top.find(';', peak) - peak - 13);
    if (!marked.empty()) CHECK(property(first, "snapshot") == marked);
    if (marked.empty() || marked == std::to_string(number))
      CHECK(as_double(first.total(first.find_metric("heap").value())) == std::stod(row.total));
    const std::size_t n_detailed =
        std::stoul(row.top.substr(row.top.find("detailed: ") + 10)) + (marked.empty() ? 0 : 1);
    CHECK(opened->profiles.size() == std::max<std::size_t>(n_detailed, 1));
    ++n_checked;
  }
  CHECK(n_checked == 7);
}

TEST_CASE("dhat corpus files agree with EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  const std::map<std::string, std::string> names{{"bytes total", "total_bytes"},
                                                 {"blocks total", "total_blocks"},
                                                 {"bytes at t-gmax", "gmax_bytes"},
                                                 {"bytes at t-end", "end_bytes"}};
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "dhat")) {
    if (!names.contains(row.metric)) continue;
    INFO(row.file << ' ' << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& p = *opened->profiles.at(0);
    CHECK(as_double(p.total(p.find_metric(names.at(row.metric)).value())) == std::stod(row.total));
    CHECK(std::to_string(p.n_samples()) == row.count);
    ++n_checked;
  }
  CHECK(n_checked == 8);
}
