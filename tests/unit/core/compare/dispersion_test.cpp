#include "core/compare/dispersion.h"

#include <limits>

#include "tests/support/catch.h"

using namespace profd;

namespace {

const std::vector<double> kUneven{3, 1, 4, 1, 5, 9, 2, 6}, kPulsing{2, 0, 2, 0, 2, 0, 2, 0};

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// 40 windows of which the first half has other samples than the second.
std::vector<double> in_halves(double first, double second) {
  std::vector<double> windows(kWindows, second);
  std::fill_n(windows.begin(), kWindows / 2, first);
  for (std::size_t i = 0; i < kWindows; i += 3) windows[i] += 1;
  return windows;
}

}  // namespace

// Reference values: numpy's var(ddof=1) / mean, 1.94931 and 1.14286 (median 1.54608), drawn together by
// (7 own + 20 median) / 27.
TEST_CASE("a dispersion is the variance of windows over their mean, drawn towards the median") {
  const auto windows = joined(kUneven, kPulsing);
  const auto by = dispersions({8, windows, {}});
  REQUIRE(by);
  CHECK((*by)[0] == Approx(1.65062297320362).epsilon(1e-12));
  CHECK((*by)[1] == Approx(1.44154292541389).epsilon(1e-12));
  const auto after_only = dispersions({8, {}, windows});
  CHECK(*after_only == *by);
}

TEST_CASE("both sides tell the dispersion of a subject together") {
  // A lone subject is its own median.
  const auto by = dispersions({8, kUneven, kPulsing});
  REQUIRE(by);
  CHECK(*by == std::vector<double>{(*by)[0]});
  CHECK((*by)[0] == Approx(1.78388278388278).epsilon(1e-12));
  CHECK(*dispersions({8, kPulsing, kUneven}) == *by);
}

TEST_CASE("a dispersion is never below that of samples on their own") {
  const std::vector<double> even(kWindows, 5);
  CHECK(*dispersions({kWindows, even, even}) == std::vector<double>{1});
}

TEST_CASE("a subject without samples has the dispersion of the others") {
  const auto windows = joined(kUneven, std::vector<double>(8, 0));
  const auto by = dispersions({8, windows, windows});
  CHECK((*by)[1] == (*by)[0]);
}

TEST_CASE("where no subject has samples enough the dispersion is not known") {
  const std::vector<double> few{1, 0, 0, 0, 0, 0, 0, 2};
  CHECK(*dispersions({8, few, {}}) == std::vector<double>{kUnknownDispersion});
  CHECK(dispersions({8, {}, {}})->empty());
}

TEST_CASE("two runs of the same program tell one dispersion for all") {
  // Each is three deviations of its own off, which are 5 for 100 samples at a half and 2.5 for 25.
  std::vector<SamplePair> selfs;
  for (int i = 0; i < 10; ++i) {
    selfs.push_back({i % 2 ? 35.0 : 65.0, i % 2 ? 65.0 : 35.0});
    selfs.push_back({5, 20});
  }
  CHECK(*dispersion_of_unchanged(selfs, {}) == Approx(9));
  // As expected of runs of which the second took four times as long: no less than on their own.
  CHECK(*dispersion_of_unchanged(std::vector<SamplePair>(20, {5, 20}), {1, 4}) == 1);
  CHECK(*dispersion_of_unchanged(std::vector<SamplePair>(20, {10, 0}), {}) == Approx(10));
}

TEST_CASE("few functions, or functions of few samples, tell no dispersion") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<SamplePair> selfs(19, {10, 10});
  selfs.insert(selfs.end(), {{4, 5}, {nan, 40}, {-1, 40}});
  CHECK_FALSE(dispersion_of_unchanged(selfs, {}));
  selfs.push_back({10, 10});
  CHECK(dispersion_of_unchanged(selfs, {}));
  CHECK_FALSE(dispersion_of_unchanged(selfs, {-1, -1}));
  for (const double bad : {nan, 0.0, -3.0, std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(dispersion_of_unchanged(selfs, {bad, 1}));
    CHECK_FALSE(dispersion_of_unchanged(selfs, {1, bad}));
  }
}

TEST_CASE("windows that fit no subjects, or hold no counts, are refused") {
  const std::vector<double> seven(7, 1), eight(8, 1), sixteen(16, 1);
  CHECK(dispersions({8, seven, {}}).error().code == ErrorCode::invalid);
  CHECK(dispersions({8, eight, sixteen}).error().code == ErrorCode::invalid);
  CHECK(dispersions({1, eight, eight}).error().code == ErrorCode::invalid);
  CHECK(dispersions({0, eight, eight}).error().code == ErrorCode::invalid);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> windows(8, 1);
    windows[3] = bad;
    CHECK(dispersions({8, windows, {}}).error().code == ErrorCode::invalid);
    CHECK(drifting({8, {}, windows}).error().code == ErrorCode::invalid);
  }
}

TEST_CASE("samples that move from one half of a run to the other drift") {
  const auto steady = in_halves(5, 5), moved = in_halves(2, 9);
  CHECK(*drifting({kWindows, joined(steady, moved), {}}) == std::vector<std::uint32_t>{1});
  CHECK(*drifting({kWindows, joined(steady, steady), joined(moved, steady)}) ==
        std::vector<std::uint32_t>{0});
  // Named once, though it drifts on both sides.
  CHECK(*drifting({kWindows, moved, moved}) == std::vector<std::uint32_t>{0});
}

TEST_CASE("what is the same all along, or has next to no samples, does not drift") {
  const std::vector<double> even(kWindows, 5);
  std::vector<double> rare(kWindows, 0);
  std::fill_n(rare.begin(), 10, 2);
  CHECK(drifting({kWindows, joined(even, rare), {}})->empty());
  CHECK(drifting({4, {}, {}})->empty());
}
