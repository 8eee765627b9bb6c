#include "core/compare/several_runs.h"

#include <cmath>
#include <limits>

#include "core/compare/one_run.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// Four subjects, five runs a side.
const std::vector<double> kRuns{100,  104,  97,  101,  99,  120,  118,  125, 121,  119,   // a fifth more
                                50,   55,   48,  60,   52,  51,   49,   56,  47,   58,    // as before
                                1000, 1010, 990, 1020, 980, 1015, 1005, 995, 1000, 1030,  //
                                12,   9,    15,  11,   8,   10,   14,   13,  9,    12};

RunsTests tested(const RunCounts& runs, Direction direction = Direction::both) {
  auto tests = test_runs(runs, direction, {});
  REQUIRE(tests);
  return *std::move(tests);
}

// Those of kRuns in `columns`.
std::vector<double> columns_of(const std::vector<std::size_t>& columns) {
  std::vector<double> samples;
  for (std::size_t s = 0; s < kRuns.size() / 10; ++s)
    for (const std::size_t c : columns) samples.push_back(kRuns[s * 10 + c]);
  return samples;
}

}  // namespace

// Reference values: the same definition in numpy, over itertools.combinations of the runs, with scipy's t
// quantile.
TEST_CASE("a change stands out by how often divisions of the runs have any as large") {
  const RunsTests tests = tested({5, 5, kRuns, {}});
  const double ratios[] = {0.184537097335, -0.0151650217873, 0.00898001663987, 0.0609920738487};
  const double chances[] = {2. / 252, 1, 240. / 252, 250. / 252};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(tests.subjects[i]->log_ratio == Approx(ratios[i]).epsilon(1e-9));
    CHECK(tests.subjects[i]->p == Approx(chances[i]).epsilon(1e-12));
  }
  CHECK(tests.subjects[0]->log_low == Approx(0.091499070514).epsilon(1e-9));
  CHECK(tests.subjects[0]->log_high == Approx(0.277575124156).epsilon(1e-9));
  CHECK(tests.least_p == Approx(2. / 252));
}

TEST_CASE("a rise alone is asked for at half the chance") {
  const RunsTests tests = tested({5, 5, kRuns, {}}, Direction::rise);
  const double chances[] = {1. / 252, 238. / 252, 156. / 252, 187. / 252};
  for (std::size_t i = 0; i < 4; ++i) CHECK(tests.subjects[i]->p == Approx(chances[i]).epsilon(1e-12));
  CHECK(tests.least_p == Approx(1. / 252));
}

TEST_CASE("a fall is no rise") {
  const auto swapped = columns_of({5, 6, 7, 8, 9, 0, 1, 2, 3, 4});
  const RunsTests tests = tested({5, 5, swapped, {}}, Direction::rise);
  const double chances[] = {1, 205. / 252, 248. / 252, 243. / 252};
  for (std::size_t i = 0; i < 4; ++i) CHECK(tests.subjects[i]->p == Approx(chances[i]).epsilon(1e-12));
}

TEST_CASE("sides may have other numbers of runs, and runs other exposures") {
  const auto samples = columns_of({0, 1, 2, 5, 6, 7, 8});
  const std::vector<double> exposures{1, 1, 1, 2, 1, 1, 1.5};
  const RunsTests tests = tested({3, 4, samples, exposures});
  const double ratios[] = {-0.0880231140884, -0.27999525055, -0.270905707562, -0.310730213453};
  const double chances[] = {29. / 35, 15. / 35, 15. / 35, 16. / 35};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(tests.subjects[i]->log_ratio == Approx(ratios[i]).epsilon(1e-9));
    CHECK(tests.subjects[i]->p == Approx(chances[i]).epsilon(1e-12));
  }
  CHECK(tests.subjects[3]->log_low == Approx(-0.978145372282).epsilon(1e-9));
  CHECK(tests.least_p == Approx(1. / 35));
}

TEST_CASE("three runs a side say that they cannot reach the level") {
  const RunsTests three = tested({3, 3, columns_of({0, 1, 2, 5, 6, 7}), {}});
  CHECK(three.least_p == Approx(0.1));
  CHECK(three.subjects[0]->p == Approx(0.1));
  CHECK(tested({4, 4, columns_of({0, 1, 2, 3, 5, 6, 7, 8}), {}}).least_p < kLevel);
  CHECK(tested({3, 3, columns_of({0, 1, 2, 5, 6, 7}), {}}, Direction::rise).least_p == Approx(kLevel));
}

TEST_CASE("too many divisions to try are drawn, the same ones each time and mirrored for swapped sides") {
  const auto samples = columns_of({0, 1, 2, 3, 4, 0, 1, 2, 5, 6, 7, 8, 9, 5, 6, 7});
  const auto swapped = columns_of({5, 6, 7, 8, 9, 5, 6, 7, 0, 1, 2, 3, 4, 0, 1, 2});
  const RunsTests once = tested({8, 8, samples, {}}), again = tested({8, 8, samples, {}});
  const RunsTests other = tested({8, 8, swapped, {}});
  CHECK(once.least_p == Approx(1. / 2001));
  CHECK(once.subjects[0]->p <= 3. / 2001);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(once.subjects[i]->p == again.subjects[i]->p);
    CHECK(once.subjects[i]->log_low == again.subjects[i]->log_low);
    CHECK(once.subjects[i]->p == other.subjects[i]->p);
    CHECK(once.subjects[i]->log_ratio == -other.subjects[i]->log_ratio);
    CHECK(once.subjects[i]->log_low == -other.subjects[i]->log_high);
  }
}

TEST_CASE("swapping sides of other numbers of runs mirrors them too") {
  const auto samples = columns_of({0, 1, 2, 5, 6, 7, 8}), swapped = columns_of({5, 6, 7, 8, 0, 1, 2});
  const RunsTests one = tested({3, 4, samples, {}}), other = tested({4, 3, swapped, {}});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(one.subjects[i]->p == other.subjects[i]->p);
    CHECK(one.subjects[i]->log_ratio == -other.subjects[i]->log_ratio);
  }
}

TEST_CASE("subjects of few samples are not asked") {
  const std::vector<double> samples{9, 10, 9, 11, 0, 0, 20, 20, 0, 0, 0, 0, 10, 10, 10, 10};
  const RunsTests tests = tested({2, 2, samples, {}});
  CHECK_FALSE(tests.subjects[0]);
  CHECK(tests.subjects[1]);
  CHECK_FALSE(tests.subjects[2]);
  CHECK(tests.subjects[3]);
  CHECK(tests.subjects[3]->log_ratio == 0);
  CHECK(tested({2, 2, {}, {}}).subjects.empty());
}

TEST_CASE("runs that are none, or do not fit, are refused") {
  const auto code = [](const RunCounts& runs) { return test_runs(runs, Direction::both, {}).error().code; };
  const std::vector<double> four{10, 11, 12, 13};
  CHECK(code({1, 1, std::span(four).first(2), {}}) == ErrorCode::invalid);
  CHECK(code({0, 4, four, {}}) == ErrorCode::invalid);
  CHECK(code({4, 0, four, {}}) == ErrorCode::invalid);
  CHECK(code({1, 2, four, {}}) == ErrorCode::invalid);
  CHECK(code({2, 2, four, std::span(four).first(3)}) == ErrorCode::invalid);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> wrong{10, bad, 12, 13};
    CHECK(code({2, 2, wrong, {}}) == ErrorCode::invalid);
    CHECK(code({2, 2, four, wrong}) == ErrorCode::invalid);
  }
  const StopSource source;
  StopSource stopped;
  stopped.request_stop();
  CHECK(test_runs({2, 2, four, {}}, Direction::both, StopToken(stopped)).error().code ==
        ErrorCode::cancelled);
  CHECK(test_runs({2, 2, four, {}}, Direction::both, StopToken(source)));
}
