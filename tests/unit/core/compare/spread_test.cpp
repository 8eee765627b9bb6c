#include "core/compare/spread.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {
using Inputs = std::vector<std::optional<double>>;
constexpr double kHuge = std::numeric_limits<double>::max();
const double kNotANumber = std::nan("");
}  // namespace

// Reference values: numpy's std(ddof=1).
TEST_CASE("the spread of values leaves out inputs that do not know") {
  const auto spread = spread_of(Inputs{4, 1, std::nullopt, 7, 7, 2.5});
  REQUIRE(spread);
  CHECK(spread->n == 5);
  CHECK(spread->missing == 1);
  CHECK(spread->sum == 21.5);
  CHECK(spread->min == 1);
  CHECK(spread->max == 7);
  CHECK(spread->mean == 4.3);
  CHECK(*spread->deviation == Approx(2.6832815729997477).epsilon(1e-14));
  CHECK(*spread->imbalance == Approx(0.627906976744186).epsilon(1e-14));
  CHECK(spread->lost == Approx(13.5).epsilon(1e-14));
}

TEST_CASE("one value has no deviation, none have no spread") {
  const auto one = spread_of(Inputs{std::nullopt, 3});
  CHECK(one->n == 1);
  CHECK_FALSE(one->deviation);
  CHECK(*one->imbalance == 0);
  CHECK(one->lost == 0);
  CHECK_FALSE(spread_of(Inputs{std::nullopt, std::nullopt}));
  CHECK_FALSE(spread_of(Inputs{}));
}

TEST_CASE("zeros are values, and nothing is out of balance with them") {
  const auto zeros = spread_of(Inputs{0, 0, 0});
  CHECK(zeros->n == 3);
  CHECK(zeros->mean == 0);
  CHECK(*zeros->deviation == 0);
  CHECK_FALSE(zeros->imbalance);
  const auto absent = spread_of(Inputs{0, 0, 9});
  CHECK(absent->mean == 3);
  CHECK(*absent->imbalance == 2);
  CHECK(absent->lost == 18);
  CHECK_FALSE(spread_of(Inputs{-1, -2})->imbalance);
}

TEST_CASE("values that are not finite count as missing, sums that are not as no spread") {
  const auto spread = spread_of(Inputs{1, kNotANumber, std::numeric_limits<double>::infinity(), 3});
  CHECK(spread->n == 2);
  CHECK(spread->missing == 2);
  CHECK(spread->sum == 4);
  CHECK_FALSE(spread_of(Inputs{kHuge, kHuge}));
}

TEST_CASE("small values are not lost beside large ones") {
  Inputs values{1e16};
  values.resize(1001, 1);
  values.emplace_back(-1e16);
  CHECK(spread_of(values)->sum == 1000);
}

TEST_CASE("a percentile is a value that is there, the nearest by rank") {
  const Inputs values{50, std::nullopt, 15, 40, 20, 35};
  CHECK(percentile(values, 0) == 15);
  CHECK(percentile(values, 5) == 15);
  CHECK(percentile(values, 20) == 15);
  CHECK(percentile(values, 30) == 20);
  CHECK(percentile(values, 40) == 20);
  CHECK(percentile(values, 50) == 35);
  CHECK(percentile(values, 100) == 50);
  CHECK_FALSE(percentile(values, 101));
  CHECK_FALSE(percentile(values, kNotANumber));
  CHECK_FALSE(percentile(Inputs{std::nullopt}, 50));
  // 99 of 100 is a rank of its own, though 0.99 is no double.
  Inputs hundred;
  for (int i = 1; i <= 100; ++i) hundred.emplace_back(i);
  for (int p = 1; p <= 100; ++p) CHECK(percentile(hundred, p) == p);
}

TEST_CASE("weights move a percentile") {
  const Inputs values{10, 20, 30};
  const std::vector<double> last_heavy{1, 1, 8}, none{0, 0, 0}, few{1, 1}, bad{1, -1, 1};
  CHECK(percentile(values, 50, last_heavy) == 30);
  CHECK(percentile(values, 20, last_heavy) == 20);
  CHECK(percentile(values, 10, last_heavy) == 10);
  CHECK(percentile(values, 0, std::vector<double>{0, 1, 1}) == 20);
  CHECK_FALSE(percentile(values, 50, none));
  CHECK_FALSE(percentile(values, 50, few));
  CHECK_FALSE(percentile(values, 50, bad));
}

// Reference values: 4 times scipy's stats.binom.sf(largest - 1, sum, 1/4).
TEST_CASE("the largest of evenly shared samples is large by chance") {
  CHECK(*chance_of_largest(Inputs{100, 130, 95, 105}, 1) == Approx(0.03203579744135504).epsilon(1e-12));
  CHECK(*chance_of_largest(Inputs{100, 130, 95, 105}, 2) == Approx(0.18929931702061323).epsilon(1e-12));
  CHECK(*chance_of_largest(Inputs{100, 100, 100}, 1) == 1);
  CHECK(*chance_of_largest(Inputs{0, 0}, 1) == 1);
  CHECK(*chance_of_largest(Inputs{0, 40, std::nullopt, 0}, 1) < 1e-15);
  CHECK_FALSE(chance_of_largest(Inputs{100, std::nullopt}, 1));
  CHECK_FALSE(chance_of_largest(Inputs{100, -1}, 1));
  CHECK_FALSE(chance_of_largest(Inputs{100, 1}, 0.5));
}
