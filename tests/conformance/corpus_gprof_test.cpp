// gprof reports and gprof2dot's JSON against EXPECTED.tsv.
#include <map>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "_moncount (5191)" -> "_moncount": macOS numbers what its call graph leaves out.
std::string without_index(const std::string& name) {
  const std::size_t open = name.rfind(" (");
  const bool index =
      open != std::string::npos && name.find_first_not_of("0123456789)", open + 2) == std::string::npos;
  return index ? name.substr(0, open) : name;
}

}  // namespace

TEST_CASE("gprof reports have the times of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "gprof-text")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    CHECK(opened->decision.format == "gprof-text");
    const Profile& p = *opened->profiles.at(0);
    const bool cycles = p.find_metric("cycles").has_value();  // in thousands there
    const double unit = cycles ? 1e3 : 1e9;
    const MetricId metric = p.find_metric(cycles ? "cycles" : "time").value();
    // gprof's running sum is of unrounded times.
    CHECK(as_double(p.total(metric)) / unit == Approx(std::stod(row.total)).epsilon(1e-4).margin(0.006));
    auto self = selfs(p, metric);
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      CHECK(self[without_index(name)] / unit == Approx(std::stod(value)));
      ++n_checked;
    }
  }
  CHECK(n_checked >= 20);
}

TEST_CASE("gprof reports of macOS and AIX have the calls that their blocks say") {
  if (warn_without_corpus()) return;
  const std::map<std::string, double> calls{{"ibm.prof", 2708}, {"darwin.prof", 2506824}};
  for (const auto& [file, expected] : calls) {
    INFO(file);
    const auto opened = open_hidden(read_bytes(*corpus() / "gprof-text" / file));
    REQUIRE(opened.has_value());
    const Profile& p = *opened->profiles.at(0);
    CHECK(as_double(p.total(p.find_metric("calls").value())) == expected);
  }
}

TEST_CASE("gprof's call graph gives callers and their shares") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "gprof-text/cycle.prof"));
  REQUIRE(opened.has_value());
  const Profile& p = *opened->profiles.at(0);
  std::map<std::string, double> inclusive;
  const StatedCosts::Functions& functions = p.stated()->functions;
  for (std::size_t r = 0; r < functions.size(); ++r)
    inclusive[std::string(p.function_name(p.frames().function[functions.frame[r]]))] =
        static_cast<double>(std::get<Column<std::int64_t>>(functions.totals[0])[r]);
  const auto self = selfs(p, p.find_metric("time").value());
  CHECK(self.at("b") == Approx(1.02e9));
  CHECK(inclusive.at("start") == Approx(1.93e9));
  CHECK(inclusive.at("main") == Approx(1.93e9));
  CHECK(inclusive.at("a") == Approx(1.77e9));
  const auto calls = selfs(p, p.find_metric("calls").value());
  CHECK(calls.at("c") == 6);
  CHECK(calls.at("a") == 3);
  CHECK(calls.at("b") == 3);
}

TEST_CASE("gprof2dot JSON has the shares of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "gprof2dot-json")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened.has_value());
    const Profile& p = *opened->profiles.at(0);
    auto self = selfs(p, MetricId{0u});
    for (auto [name, value] : row.top_entries()) {
      // gprof2dot prints two decimals of the share.
      if (name.starts_with("sample ")) name = name.substr(7);
      INFO(name);
      if (std::stod(value) == 0) continue;
      REQUIRE(self.contains(name));
      CHECK(100 * self[name] / as_double(p.total(MetricId{0u})) == Approx(std::stod(value)).margin(0.011));
      ++n_checked;
    }
  }
  CHECK(n_checked == 5);
}
