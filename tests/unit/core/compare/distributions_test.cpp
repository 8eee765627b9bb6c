#include "core/compare/distributions.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace profd;

namespace {
double off(double value, double truth) {
  return std::fabs(value / truth - 1);
}
}  // namespace

// Reference values: scipy 1.17 (stats.binom.sf and cdf), and for huge and fractional counts the incomplete
// beta function integrated by mpmath 1.4 with 40 digits.
TEST_CASE("binomial tails are exact for small and large counts") {
  struct Row {
    double after, before, weight, at_least, at_most;
  };
  const Row rows[] = {
      {550, 500, 1, 0.0652253176283485, 0.942265372609369},
      {0, 7, 1, 1, 0.0078125},
      {11, 3, 1, 0.0286865234375, 0.9935302734375},
      {90, 40, 2, 0.301750333925601, 0.760486686699544},
      {100, 100, 1, 0.528174239504628, 0.528174239504628},
      {1200, 1000, 1, 1.09085132039571e-05, 0.999990992096639},
      {1e12 + 1e7, 1e12, 1, 1.53766352802114e-12 / 2, 1},
      {1'010'000, 1e6, 1, 1.7539685614366e-12 / 2, 1},
      {123'556'789, 123'456'789, 1, 1.98354910560958e-10 / 2, 1 - 1.98354910560958e-10 / 2},
      {5.5, 2.25, 1, 0.210817577523612, 0.939184910136268},
  };
  for (const Row& row : rows) {
    const BinomialTails tails = binomial_tails(row.after, row.before, row.weight, 1);
    CAPTURE(row.after, row.before);
    CHECK(off(tails.at_least, row.at_least) < 1e-12);
    CHECK(off(tails.at_most, row.at_most) < 1e-12);
    CHECK(std::fabs(tails.at_most + tails.at_least - tails.exactly - 1) < 1e-12);
  }
}

TEST_CASE("binomial tails hold where one side has next to nothing") {
  // 10^12 before, where 3 samples come for every 10^11: 10 were expected (mpmath).
  CHECK(off(binomial_tails(3, 1e12, 1, 1e11).at_most, 0.010336050676190551) < 1e-9);
  CHECK(off(binomial_tails(1e12, 3, 1e11, 1).at_least, 0.010336050676190551) < 1e-9);
  const BinomialTails none = binomial_tails(0, 0, 1, 3);
  CHECK(none.at_most == 1);
  CHECK(none.at_least == 1);
  const BinomialTails far = binomial_tails(1e12, 1, 1, 1);
  CHECK(far.at_least == 0);
  CHECK(far.at_most == 1);
}

TEST_CASE("binomial tails fall as the count grows, across the ways they are worked out") {
  // Wide enough that some are integrated and some are not.
  for (const double sum : {10.0, 400.0, 39'000.0, 41'000.0, 4e9}) {
    double last = 2;
    for (int i = -30; i <= 30; ++i) {
      const double count = sum / 2 + i * std::sqrt(sum) / 20;
      const double at_least = binomial_tails(count, sum - count, 1, 1).at_least;
      CHECK(at_least < last);
      last = at_least;
    }
  }
}

TEST_CASE("quantiles are those of the tables") {
  // scipy: stats.norm.isf, stats.t.isf.
  CHECK(off(normal_quantile(0.025), 1.9599639845400545) < 1e-13);
  CHECK(off(normal_quantile(0.05), 1.6448536269514729) < 1e-13);
  CHECK(off(normal_quantile(1e-5), 4.264890793922825) < 1e-13);
  CHECK(off(normal_quantile(1e-300), 37.0470962993612) < 1e-13);
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == Approx(-normal_quantile(0.025)));
  CHECK(off(student_quantile(0.025, 1), 12.706204736174705) < 1e-10);
  CHECK(off(student_quantile(0.025, 16), 2.1199052992212546) < 1e-10);
  CHECK(off(student_quantile(1e-6, 2), 707.1057205259339) < 1e-10);
  CHECK(off(student_quantile(0.4, 1.5), 0.30074539256979543) < 1e-10);
  CHECK(off(student_quantile(0.025, 1e8), 1.9599640082627667) < 1e-10);
  CHECK(student_quantile(0.5, 3) == 0);
  CHECK(student_quantile(0.975, 3) == -student_quantile(0.025, 3));
}
