#include "core/compare/trend.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Values = std::vector<double>;

Trend by_number(const Values& values) {
  Values times(values.size());
  std::iota(times.begin(), times.end(), 0.0);
  auto trend = trend_of(times, values);
  REQUIRE(trend);
  return *trend;
}

// `n` values of f over [0, 1], with a ripple of 2 %.
template <class F>
Values series(int n, const F& f) {
  Values values;
  for (int i = 0; i < n; ++i) values.push_back(f(i / (n - 1.0)) * (1 + 0.02 * (i % 2)));
  return values;
}

}  // namespace

// Reference values: all orders of the values counted one by one (itertools.permutations).
TEST_CASE("the chance of a rise is exact for few values, ties included") {
  const auto p = [](const Values& values) { return *by_number(values).p; };
  CHECK(p({1, 3, 2, 4}) == Approx(4. / 24).epsilon(1e-14));
  CHECK(p({1, 2, 3, 4, 5, 6}) == Approx(1. / 720).epsilon(1e-14));
  CHECK(p({1, 3, 2, 5, 4, 6, 7}) == Approx(27. / 5040).epsilon(1e-14));
  CHECK(p({5, 1, 5, 6, 6, 2, 8}) == Approx(576. / 5040).epsilon(1e-14));
  CHECK(p({2, 2, 2, 3, 3, 4, 4, 5}) == Approx(24. / 40320).epsilon(1e-14));
  CHECK(p({3, 1, 2, 5, 4, 7, 6, 8, 9}) == Approx(440. / 362880).epsilon(1e-14));
  CHECK(p({6, 5, 4, 3, 2, 1}) == 1);
  CHECK(p({7, 7, 7, 7, 7}) == 1);
}

// Reference values: half of scipy's stats.kendalltau(method='exact') for 20; beyond, stats.norm.sf, for 23 of
// (231 - 1) / sqrt(23 * 22 * 51 / 18), for the 24 with ties of (234 - 1) / sqrt(1598).
TEST_CASE("the chance of a rise goes on smoothly for more values") {
  const Values twenty{3, 1, 4, 1.5, 5, 9, 2, 6, 5.3, 3.5, 8, 9.7, 9.3, 2.3, 8.4, 6.2, 6.4, 3.3, 8.3, 2.7};
  CHECK(*by_number(twenty).p == Approx(0.0642067555853763).epsilon(1e-12));
  CHECK(*by_number(twenty).strength == Approx(48. / 190));
  const Values more{10, 12, 11, 14, 13, 15, 18, 16, 17, 21, 19, 20,
                    22, 25, 23, 24, 28, 26, 27, 29, 30, 33, 31};
  CHECK(*by_number(more).p == Approx(6.22241534846966e-10).epsilon(1e-10));
  const Values tied{1, 1, 2, 2, 2, 3, 4, 3, 4, 5, 5, 6, 5, 6, 7, 7, 8, 8, 8, 9, 9, 7, 9, 8};
  CHECK(*by_number(tied).p == Approx(2.79397762767884e-09).epsilon(1e-10));
  CHECK(*by_number(Values(30, 5)).p == 1);
}

// Reference values: scipy's stats.theilslopes(y, x, 0.95).
TEST_CASE("the slope is the median of all pairs, with the interval of their ranks") {
  const Values times{0, 1, 3, 4, 7, 8, 10, 11}, values{1.0, 2.5, 2.0, 5.5, 6.0, 9.0, 8.5, 12.0};
  const auto trend = trend_of(times, values);
  CHECK(*trend->slope == Approx(0.9392857142857143).epsilon(1e-14));
  CHECK(trend->interval->low == Approx(0.5833333333333334).epsilon(1e-14));
  CHECK(trend->interval->high == Approx(1.4).epsilon(1e-14));
  Values in_ms = times;
  for (double& t : in_ms) t *= 1000;
  CHECK(*trend_of(in_ms, values)->slope == Approx(0.9392857142857143e-3));
}

TEST_CASE("what grows all the time rises") {
  const Trend trend = by_number(series(20, [](double t) { return 1 + t; }));
  CHECK(trend.kind == TrendKind::rising);
  CHECK_FALSE(trend.may_level_off);
  CHECK_FALSE(trend.few);
  CHECK(*trend.strength > 0.8);
  CHECK(trend.interval->low > 0);
}

TEST_CASE("what rises may waver in between, and may not come down again") {
  CHECK(by_number({1, 2, 3, 4, 5, 6, 7, 12, 8, 13, 9, 11, 10, 14, 15, 16, 17, 18, 19, 20}).kind ==
        TrendKind::rising);
  const Values down{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 6, 22};
  CHECK(*by_number(down).p < 7e-4);
  CHECK(by_number(down).kind == TrendKind::steady);
  // Risen in the first half alone.
  const Values once{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 12, 11, 12, 11, 12, 11, 12, 11};
  CHECK(*by_number(once).p < 7e-4);
  CHECK(by_number(once).kind == TrendKind::steady);
}

TEST_CASE("a cache that filled, a sawtooth and a level are steady") {
  CHECK(by_number(series(20, [](double t) { return std::min(1.0, 0.1 + 3 * t); })).kind == TrendKind::steady);
  CHECK(by_number(series(20, [](double t) { return 1 + std::fmod(4 * t, 1.0); })).kind == TrendKind::steady);
  CHECK(by_number(series(20, [](double) { return 1.0; })).kind == TrendKind::steady);
  CHECK(by_number(series(20, [](double t) { return 2 - 0.4 * t; })).kind == TrendKind::steady);
}

TEST_CASE("a rise that has stopped in the last third may level off") {
  const Trend trend =
      by_number({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10.9, 11.6, 12.2, 12.7, 13.0, 13.1, 13.2, 13.3, 13.35, 13.4});
  CHECK(trend.kind == TrendKind::rising);
  CHECK(trend.may_level_off);
  Values slower = series(20, [](double t) { return 10 * t; });
  for (std::size_t i = 14; i < slower.size(); ++i)
    slower[i] = slower[13] + 0.35 * static_cast<double>(i - 13);
  CHECK(by_number(slower).kind == TrendKind::rising);
  CHECK_FALSE(by_number(slower).may_level_off);
}

TEST_CASE("what ends below half of its peak is reclaimed") {
  const auto emptied = [](double t) { return t < 0.5 ? 0.1 + 2 * t : 2.1 - 2 * t; };
  CHECK(by_number(series(20, emptied)).kind == TrendKind::reclaimed);
  CHECK(by_number({1, 9, 5, 4}).kind == TrendKind::reclaimed);
  CHECK(by_number({1, 2, 3, 9, 8, 7, 6, 5}).kind == TrendKind::steady);
  CHECK(by_number({-4, -3, -2, -1, -2, -3, -4, -5}).kind == TrendKind::steady);
}

TEST_CASE("few snapshots are refused or warned of") {
  const Trend three = by_number({1, 2, 3});
  CHECK(three.kind == TrendKind::too_few);
  CHECK_FALSE(three.p);
  CHECK_FALSE(three.slope);
  CHECK_FALSE(three.strength);
  CHECK(by_number({}).kind == TrendKind::too_few);
  const Trend six = by_number({1, 2, 3, 4, 5, 6});
  CHECK(six.kind == TrendKind::too_few);
  CHECK(six.slope == 1.0);
  CHECK(six.strength == 1.0);
  const Trend seven = by_number({1, 2, 3, 4, 5, 6, 7});
  CHECK(seven.kind == TrendKind::rising);
  CHECK(seven.few);
  CHECK_FALSE(by_number({1, 2, 3, 4, 5, 6, 7, 8}).few);
}

TEST_CASE("times out of order and what is not finite are refused") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto code = [](const Values& times, const Values& values) {
    return trend_of(times, values).error().code;
  };
  CHECK(code({0, 1, 1, 2}, {1, 2, 3, 4}) == ErrorCode::invalid);
  CHECK(code({0, 1}, {1, 2, 3}) == ErrorCode::invalid);
  CHECK(code({0, 1, nan, 3}, {1, 2, 3, 4}) == ErrorCode::invalid);
  CHECK(code({0, 1, 2, 3}, {1, 2, infinity, 4}) == ErrorCode::invalid);
  Values many(kMostSnapshots + 1);
  std::iota(many.begin(), many.end(), 0.0);
  CHECK(code(many, many) == ErrorCode::limit);
  many.pop_back();
  CHECK(trend_of(many, many)->kind == TrendKind::rising);
}

TEST_CASE("values at the end of the range have a direction, and no slope that is infinite") {
  const double most = std::numeric_limits<double>::max();
  const Trend trend = by_number({-most, most, -most, most, most});
  CHECK(trend.p);
  CHECK_FALSE(trend.slope);
  CHECK_FALSE(trend.interval);
}
