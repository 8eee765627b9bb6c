// One number of many values by its name, and conditions on it.
#include "core/compare/statistic.h"

#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {

const std::vector<std::optional<double>> kValues = {10.0, 10.0, 40.0, 0.0};

std::optional<double> statistic_of(std::string_view name) {
  return value_of(parse_statistic(name).value(), spread_of(kValues).value(), kValues);
}

bool holds_here(std::string_view condition) {
  return holds(parse_statistic_condition(condition, "nanoseconds").value(), spread_of(kValues).value(),
               kValues);
}

std::string refused(std::string_view condition) {
  return parse_statistic_condition(condition, "nanoseconds").error().message;
}

}  // namespace

TEST_CASE("a statistic is worked out by its name") {
  CHECK(statistic_of("sum") == 60);
  CHECK(statistic_of("mean") == 15);
  CHECK(statistic_of("least") == 0);
  CHECK(statistic_of("max") == 40);
  CHECK(statistic_of("median") == 10);
  CHECK(statistic_of("p75") == 10);
  CHECK(statistic_of("p75.5") == 40);
  CHECK(statistic_of("p100") == 40);
  CHECK(statistic_of("lost") == 100);
  CHECK(*statistic_of("uneven") == Approx(40.0 / 15 - 1));
  CHECK(*statistic_of("variation") == Approx(*statistic_of("deviation") / 15));
}

TEST_CASE("names of statistics read back as what they name") {
  for (const std::string_view name :
       {"sum", "mean", "min", "max", "median", "p95", "p99.9", "deviation", "variation", "imbalance", "lost"})
    CHECK(to_text(parse_statistic(name).value()) == name);
  CHECK(to_text(parse_statistic("p50").value()) == "median");
  CHECK(to_text(parse_statistic("most").value()) == "max");
  for (const std::string_view name : {"", "p", "p101", "p-1", "pp9", "p9x", "pnan", "Sum", "95"})
    CHECK_FALSE(parse_statistic(name));
}

TEST_CASE("conditions hold by numbers in the metric's unit, in others, and by parts of the mean") {
  CHECK(holds_here("sum >= 60"));
  CHECK_FALSE(holds_here("sum>=60.5"));
  CHECK(holds_here("max <= 0.04us"));
  CHECK_FALSE(holds_here("max <= 0.039us"));
  CHECK(holds_here("uneven >= 160%"));
  CHECK(holds_here("imbalance >= 1.6"));
  CHECK_FALSE(holds_here("imbalance >= 170 %"));
  CHECK(holds_here("  p95   >=  40 ns "));
}

TEST_CASE("what has no such number holds no condition") {
  const std::vector<std::optional<double>> one = {5.0};
  const StatisticCondition condition = parse_statistic_condition("deviation <= 100", "").value();
  CHECK_FALSE(holds(condition, spread_of(one).value(), one));
}

TEST_CASE("a condition that is none says where and what is expected") {
  CHECK(refused("lost") ==
        "condition: after the statistic stands `>=` or `<=`, as in `lost >= 5ms` (at character 5)");
  CHECK(refused("lost > 5").find("(at character 6)") != std::string::npos);
  CHECK(refused("worst >= 5").find("condition: \"worst\" is no statistic: sum, mean") == 0);
  CHECK(refused("lost >= ms") ==
        "condition: a limit is a number and its unit: 5ms, 2MB or 10% (at character 9)");
  CHECK(refused("lost >= ").find("(at character 9)") != std::string::npos);
  CHECK(refused("lost >= 1-2").find("a limit is a number") != std::string::npos);
  CHECK(refused("lost >= 5MB") ==
        "condition: a limit in MB is none of a metric in nanoseconds (at character 10)");
  CHECK(refused("uneven >= 5ms") == "condition: it is a part of the mean: 10% or 0.1 (at character 12)");
  CHECK(parse_statistic_condition(std::string(200, 'x'), "").error().code == ErrorCode::limit);
}
