#include "core/compare/scaling.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// 40 functions of 100 samples that are as before, give or take, and one that has grown to twice its samples.
std::vector<SamplePair> one_grown() {
  std::vector<SamplePair> samples;
  for (int i = 0; i < 40; ++i) samples.push_back({99.0 + i % 3, 101.0 - i % 3});
  samples.push_back({1000, 2000});
  return samples;
}

Scaled scaled(Scaling by, const ScaleFacts& facts) {
  const auto scale = scale_by(by, facts);
  REQUIRE(scale);
  CHECK(scale->by == by);
  return *scale;
}

}  // namespace

TEST_CASE("values after are brought to the time, work or total of those before") {
  const ScaleFacts facts{{10, 20}, {300, 100}, {5, 4}, {}};
  CHECK(scaled(Scaling::raw, facts).factor == 1);
  CHECK(scaled(Scaling::per_second, facts).factor == 0.5);
  CHECK(scaled(Scaling::per_counter, facts).factor == 3);
  CHECK(scaled(Scaling::equal_totals, facts).factor == 1.25);
  CHECK(exposures_of(scaled(Scaling::per_second, facts)).after == 2);
  CHECK(exposures_of(scaled(Scaling::per_second, facts)).before == 1);
}

TEST_CASE("the bulk of functions is left where it is") {
  const auto samples = one_grown();
  CHECK(scaled(Scaling::bulk, {{}, {}, {}, samples}).factor == Approx(1).epsilon(1e-12));
  std::vector<SamplePair> doubled;
  for (const SamplePair& n : samples) doubled.push_back({n.before, 2 * n.after});
  doubled.push_back({49, 4000});  // too few samples for a ratio
  CHECK(scaled(Scaling::bulk, {{}, {}, {}, doubled}).factor == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("scaling by bulk mirrors when sides are swapped") {
  const std::vector<SamplePair> samples{{60, 90}, {200, 210}, {500, 400}, {80, 100}};
  std::vector<SamplePair> swapped;
  for (const SamplePair& n : samples) swapped.push_back({n.after, n.before});
  CHECK(scaled(Scaling::bulk, {{}, {}, {}, samples}).factor ==
        Approx(1 / scaled(Scaling::bulk, {{}, {}, {}, swapped}).factor).epsilon(1e-14));
}

TEST_CASE("equal totals say when one function makes all others shrink") {
  const auto samples = one_grown();
  CHECK(scaled(Scaling::equal_totals, {{}, {}, {5000, 6000}, samples}).shares_give_way);
  CHECK_FALSE(scaled(Scaling::equal_totals, {{}, {}, {5000, 5000}, samples}).shares_give_way);
  CHECK_FALSE(scaled(Scaling::equal_totals, {{}, {}, {5000, 6000}, {}}).shares_give_way);
  CHECK_FALSE(scaled(Scaling::per_second, {{1, 2}, {}, {5000, 6000}, samples}).shares_give_way);
  // Everything took twice as long.
  const std::vector<SamplePair> doubled(40, {100, 200});
  CHECK_FALSE(scaled(Scaling::equal_totals, {{}, {}, {4000, 8000}, doubled}).shares_give_way);
  // All a little more than by totals, and so little that it does not matter.
  const std::vector<SamplePair> hardly(40, {100, 101});
  CHECK_FALSE(scaled(Scaling::equal_totals, {{}, {}, {4000, 4000}, hardly}).shares_give_way);
}

TEST_CASE("what is not known or no amount scales nothing") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<SamplePair> few{{49, 60}, {60, 49}, {nan, 100}, {100, infinity}};
  CHECK(scale_by(Scaling::per_second, {{1, std::nullopt}, {}, {}, {}}).error().code == ErrorCode::invalid);
  CHECK(scale_by(Scaling::per_counter, {{1, 1}, {0, 1}, {}, {}}).error().code == ErrorCode::invalid);
  CHECK(scale_by(Scaling::equal_totals, {{1, 1}, {}, {-1, -1}, {}}).error().code == ErrorCode::invalid);
  CHECK(scale_by(Scaling::per_second, {{nan, 1}, {}, {}, {}}).error().code == ErrorCode::invalid);
  CHECK(scale_by(Scaling::per_second, {{1e-300, 1e300}, {}, {}, {}}).error().code == ErrorCode::invalid);
  const auto bulk = scale_by(Scaling::bulk, {{}, {}, {}, few});
  CHECK(bulk.error().code == ErrorCode::invalid);
  CHECK(bulk.error().message ==
        "scaling by bulk needs functions with 50 samples in each run, which is not known");
}

TEST_CASE("raw values stand for runs as long as one another, and values per second for others") {
  CHECK(default_scale({{100, 102}, {}, {}, {}}).by == Scaling::raw);
  CHECK(default_scale({{102, 100}, {}, {}, {}}).by == Scaling::raw);
  CHECK(default_scale({{100, 102}, {}, {}, {}}).factor == 1);
  const Scaled longer = default_scale({{100, 103}, {}, {}, {}});
  CHECK(longer.by == Scaling::per_second);
  CHECK(longer.factor == Approx(100. / 103));
  CHECK(default_scale({{103, 100}, {}, {}, {}}).by == Scaling::per_second);
  CHECK(default_scale({{std::nullopt, 100}, {}, {}, {}}).by == Scaling::raw);
  CHECK(default_scale({}).by == Scaling::raw);
}

TEST_CASE("each scale has its name") {
  CHECK(name_of(Scaling::raw) == "raw");
  CHECK(name_of(Scaling::per_second) == "per second");
  CHECK(name_of(Scaling::per_counter) == "per counter");
  CHECK(name_of(Scaling::equal_totals) == "equal totals");
  CHECK(name_of(Scaling::bulk) == "bulk");
}
