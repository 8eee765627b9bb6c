#include "core/compare/histogram.h"

#include <limits>
#include <vector>

#include "core/compare/thin.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {
using InputValuesOf = std::vector<std::optional<double>>;
}  // namespace

TEST_CASE("a histogram has bins of equal width, and the largest value is in the last") {
  const auto found = histogram_of(InputValuesOf{0, 1, 2, 3, 4, 5, 6, 7, 8}, 30);
  REQUIRE(found);
  CHECK(found->counts == std::vector<std::uint32_t>{3, 3, 3});
  CHECK(found->edge(0) == 0);
  CHECK(found->edge(1) == Approx(8.0 / 3));
  CHECK(found->edge(3) == 8);
}

TEST_CASE("a value between two bins is of the upper one") {
  CHECK(histogram_of(InputValuesOf{0, 5, 10, 10}, 2)->counts == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("the bins of a histogram are bounded, and count every value that is known") {
  InputValuesOf values;
  for (int i = 0; i < 10'000; ++i) values.emplace_back(i * i);
  values.emplace_back();
  values.emplace_back(std::numeric_limits<double>::infinity());
  const auto found = histogram_of(values, 30);
  REQUIRE(found->counts.size() == 30);
  std::uint32_t n = 0;
  for (const std::uint32_t count : found->counts) n += count;
  CHECK(n == 10'000);
}

TEST_CASE("values that are all the same are one bin; none, and those too far apart, are no histogram") {
  CHECK(histogram_of(InputValuesOf{7, 7, 7}, 30)->counts == std::vector<std::uint32_t>{3});
  CHECK_FALSE(histogram_of(InputValuesOf{std::nullopt}, 30));
  CHECK_FALSE(histogram_of(InputValuesOf{}, 30));
  constexpr double kLargest = std::numeric_limits<double>::max();
  CHECK_FALSE(histogram_of(InputValuesOf{-kLargest, kLargest}, 30));
}

TEST_CASE("a thinned series keeps the largest of each group of neighbours") {
  const std::vector<double> values{1, 9, 2, 2, 0, -1, 5};
  CHECK(largest_of_neighbours(values, 3) == std::vector<std::size_t>{1, 2, 6});
  CHECK(largest_of_neighbours(values, 100).size() == values.size());
  CHECK(largest_of_neighbours(values, 1) == std::vector<std::size_t>{1});
  CHECK(largest_of_neighbours(values, 0).empty());
  CHECK(largest_of_neighbours({}, 3).empty());
}
