#include "core/compare/one_run.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace profd;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

// Reference values: twice the smaller of scipy 1.17's stats.binom.cdf and sf; with mpmath 1.4 for 10^12.
TEST_CASE("a change has the exact chance of its samples given their sum") {
  const auto p = [](double before, double after) { return test_change({before, after}, {}, 1)->p; };
  CHECK(p(500, 550) == Approx(0.130450635256697).epsilon(1e-12));
  CHECK(p(3, 11) == Approx(0.057373046875).epsilon(1e-12));
  CHECK(p(1000, 1200) == Approx(2.18170264079142e-05).epsilon(1e-12));
  CHECK(p(1e12, 1e12 + 1e7) == Approx(1.53766352802114e-12).epsilon(1e-9));
  CHECK(p(100, 100) == 1);
  const auto test = test_change({40, 90}, {1, 2}, 1);
  CHECK(test->rise_p == Approx(0.301750333925601).epsilon(1e-12));
  CHECK(test->fall_p == Approx(0.760486686699544).epsilon(1e-12));
}

TEST_CASE("samples on one side alone have the smallest chance there can be") {
  const auto gone = test_change({7, 0}, {}, 1);
  CHECK(gone->p == Approx(2 * std::pow(0.5, 7)));
  CHECK(gone->least_p == Approx(gone->p));
  const auto added = test_change({0, 7}, {3, 1}, 1);
  CHECK(added->p == Approx(2 * std::pow(0.25, 7)));
  CHECK(added->least_p == Approx(added->p));
  CHECK(test_change({7, 0}, {3, 1}, 1)->least_p < test_change({7, 0}, {3, 1}, 1)->p);
}

TEST_CASE("no samples are no evidence") {
  const auto test = test_change({0, 0}, {1, 5}, 1);
  CHECK(test->p == 1);
  CHECK(test->rise_p == 1);
  CHECK(test->fall_p == 1);
  CHECK(test->least_p == 1);
  CHECK_FALSE(ratio_interval({0, 0}, {}, 1));
  CHECK_FALSE(smallest_rise_seen(0, {}, 1, 1));
}

TEST_CASE("clusters of two samples count as one") {
  const auto clusters = test_change({1000, 1100}, {}, 2);
  CHECK(clusters->p == test_change({500, 550}, {}, 1)->p);
  CHECK(clusters->least_p == test_change({500, 550}, {}, 1)->least_p);
  CHECK(ratio_interval({1000, 1100}, {}, 2)->low == ratio_interval({500, 550}, {}, 1)->low);
}

TEST_CASE("swapping sides mirrors a change to the last digit") {
  for (const double before : {0.0, 3.0, 4.25, 12.5, 480.0, 1e6, 3e11})
    for (const double after : {0.0, 2.0, 17.0, 500.0, 1.002e6, 3.00001e11})
      for (const double exposure : {1.0, 1.003, 4.0}) {
        const auto one = test_change({before, after}, {1, exposure}, 1);
        const auto other = test_change({after, before}, {exposure, 1}, 1);
        CHECK(one->p == other->p);
        CHECK(one->least_p == other->least_p);
        CHECK(one->rise_p == other->fall_p);
        CHECK(one->fall_p == other->rise_p);
        const auto interval = ratio_interval({before, after}, {1, exposure}, 1);
        const auto mirrored = ratio_interval({after, before}, {exposure, 1}, 1);
        REQUIRE(interval.has_value() == mirrored.has_value());
        if (!interval) continue;
        CHECK(interval->low == Approx(mirrored->high ? 1 / *mirrored->high : 0).epsilon(1e-12));
      }
}

// Reference values: the ends at which half the density and the tail of scipy's stats.binom come to 2.5 %,
// found by optimize.brentq.
TEST_CASE("the interval of a ratio is that of its mid-p") {
  const auto interval = ratio_interval({500, 550}, {}, 1);
  CHECK(interval->low == Approx(0.974550974761).epsilon(1e-10));
  CHECK(*interval->high == Approx(1.24181169003).epsilon(1e-10));
  const auto few = ratio_interval({10, 20}, {}, 1);
  CHECK(few->low == Approx(0.944824707182).epsilon(1e-10));
  CHECK(*few->high == Approx(4.45484799258).epsilon(1e-10));
  const auto narrow = ratio_interval({10, 20}, {}, 1, 0.8);
  CHECK(narrow->low == Approx(1.2164733937).epsilon(1e-10));
  CHECK(*narrow->high == Approx(3.32888863267).epsilon(1e-10));
  const auto twice_as_long = ratio_interval({500, 550}, {1, 2}, 1);
  CHECK(twice_as_long->low == Approx(interval->low / 2));
  CHECK(*twice_as_long->high == Approx(*interval->high / 2));
}

TEST_CASE("what was not there before has no largest ratio, and what is gone may be nothing") {
  const auto added = ratio_interval({0, 5}, {}, 1);
  CHECK(added->low == Approx(1.21867368368).epsilon(1e-10));
  CHECK_FALSE(added->high);
  const auto gone = ratio_interval({5, 0}, {}, 1);
  CHECK(gone->low == 0);
  CHECK(*gone->high == Approx(0.820564203026).epsilon(1e-10));
}

TEST_CASE("intervals of huge and of minute counts are found") {
  const auto huge = ratio_interval({1e12, 1e12}, {}, 1);
  CHECK(huge->low == Approx(1 - 1.95996 * std::sqrt(2e-12)).epsilon(1e-10));
  CHECK(*huge->high == Approx(1 + 1.95996 * std::sqrt(2e-12)).epsilon(1e-10));
  const auto uneven = ratio_interval({1e12, 1}, {}, 1);
  CHECK(uneven->low > 0);
  CHECK(uneven->low < 1e-12);
  CHECK(*uneven->high > 1e-12);
  const auto minute = ratio_interval({1e-200, 1e-200}, {}, 1);
  CHECK(minute->low < 1e-100);
  CHECK(minute->high.value_or(kInfinity) > 1e100);
}

// Reference values: the formula of the normal quantiles of scipy; 10,000 samples of a program, 5 % of them of
// the subject.
TEST_CASE("the smallest rise seen grows with the number of questions and with noise") {
  CHECK(*smallest_rise_seen(500, {}, 1, 1) == Approx(0.241353424618716).epsilon(1e-12));
  CHECK(*smallest_rise_seen(500, {}, 1, 500) == Approx(0.382071816806491).epsilon(1e-12));
  CHECK(*smallest_rise_seen(100, {}, 2, 1) == Approx(0.862527914308058).epsilon(1e-12));
  CHECK(*smallest_rise_seen(2000, {1, 2.5}, 1.5, 40) == Approx(0.161473887245026).epsilon(1e-12));
  CHECK_FALSE(smallest_rise_seen(500, {}, 1, 0));
}

TEST_CASE("what is no count, exposure or dispersion has no test") {
  for (const double bad : {kNaN, kInfinity, -1.0}) {
    CHECK_FALSE(test_change({bad, 1}, {}, 1));
    CHECK_FALSE(test_change({1, bad}, {}, 1));
    CHECK_FALSE(test_change({1, 1}, {bad, 1}, 1));
    CHECK_FALSE(test_change({1, 1}, {1, bad}, 1));
    CHECK_FALSE(test_change({1, 1}, {}, bad));
    CHECK_FALSE(ratio_interval({bad, 1}, {}, 1));
    CHECK_FALSE(ratio_interval({1, 1}, {}, 1, bad));
    CHECK_FALSE(smallest_rise_seen(bad, {}, 1, 1));
  }
  CHECK_FALSE(test_change({1, 1}, {0, 1}, 1));
  CHECK_FALSE(test_change({1, 1}, {1e-300, 1e300}, 1));
  CHECK_FALSE(test_change({1, 1}, {}, 0.9));
  CHECK_FALSE(test_change({1e308, 1e308}, {}, 1));
  CHECK_FALSE(ratio_interval({1, 1}, {}, 1, 1));
}
