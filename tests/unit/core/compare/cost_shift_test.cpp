#include "core/compare/cost_shift.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Groups = std::vector<std::uint32_t>;
using Members = std::vector<std::uint32_t>;

std::vector<CostShift> shifts_of(const std::vector<SignedChange>& changes,
                                 const std::vector<Groups>& levels) {
  std::vector<std::span<const std::uint32_t>> spans(levels.begin(), levels.end());
  return cost_shifts(changes, spans);
}

}  // namespace

TEST_CASE("what one function of a class loses and another gains has moved") {
  const auto shifts = shifts_of({{-300, 20}, {310, 20}, {500, 20}}, {{7, 7, 8}});
  REQUIRE(shifts.size() == 1);
  CHECK(shifts[0].members == Members{0, 1});
  CHECK(shifts[0].level == 0);
  CHECK(shifts[0].group == 7);
  CHECK(shifts[0].net == 10);
  CHECK(shifts[0].gross == 610);
}

TEST_CASE("a group that only rose, or rose beyond noise, has not") {
  CHECK(shifts_of({{300, 500}, {310, 500}}, {{7, 7}}).empty());
  CHECK(shifts_of({{300, 500}}, {{7}}).empty());
  CHECK(shifts_of({{0, 5}, {0, 5}}, {{7, 7}}).empty());
  // 60 of 540 are left, which is more than two deviations of 28.
  CHECK(shifts_of({{-240, 20}, {300, 20}}, {{7, 7}}).empty());
  CHECK(shifts_of({{-240, 22}, {300, 22}}, {{7, 7}}).size() == 1);
}

TEST_CASE("noise excuses no more than a fifth of what changed") {
  CHECK(shifts_of({{-80, 1000}, {120, 1000}}, {{7, 7}}).size() == 1);
  CHECK(shifts_of({{-79, 1000}, {121, 1000}}, {{7, 7}}).empty());
}

TEST_CASE("the smallest group in which changes cancel is the one that is named, and takes them") {
  const std::vector<SignedChange> changes{{-100, 5}, {100, 5}, {-50, 5}, {52, 5}};
  const auto shifts = shifts_of(changes, {{1, 1, 2, 3}, {9, 9, 9, 9}});
  REQUIRE(shifts.size() == 2);
  CHECK(shifts[0].level == 0);
  CHECK(shifts[0].members == Members{0, 1});
  CHECK(shifts[1].level == 1);
  CHECK(shifts[1].members == Members{2, 3});
}

TEST_CASE("changes without a group are in none of that level") {
  CHECK(shifts_of({{-100, 5}, {100, 5}}, {{kNoGroup, kNoGroup}}).empty());
  CHECK(shifts_of({{-100, 5}, {100, 5}}, {{kNoGroup, kNoGroup}, {3, 3}}).size() == 1);
  CHECK(shifts_of({{-100, 5}, {100, 5}}, {}).empty());
}

TEST_CASE("larger shifts come first, ties by group") {
  const std::vector<SignedChange> changes{{-10, 5}, {10, 5}, {-90, 5}, {90, 5}, {-10, 5}, {10, 5}};
  const auto shifts = shifts_of(changes, {{5, 5, 6, 6, 4, 4}});
  REQUIRE(shifts.size() == 3);
  CHECK(shifts[0].group == 6);
  CHECK(shifts[1].group == 4);
  CHECK(shifts[2].group == 5);
}

TEST_CASE("swapping sides moves the cost back") {
  const std::vector<SignedChange> changes{{-300, 20}, {310, 20}, {40, 3}},
      swapped{{300, 20}, {-310, 20}, {-40, 3}};
  const auto one = shifts_of(changes, {{7, 7, 7}, {1, 1, 1}}),
             other = shifts_of(swapped, {{7, 7, 7}, {1, 1, 1}});
  REQUIRE(one.size() == 1);
  REQUIRE(other.size() == 1);
  CHECK(one[0].members == other[0].members);
  CHECK(one[0].net == -other[0].net);
  CHECK(one[0].gross == other[0].gross);
}

TEST_CASE("changes that are no numbers are left out of their group") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto shifts =
      shifts_of({{-100, 5}, {100, 5}, {nan, 5}, {infinity, 5}, {5, nan}, {5, -1}}, {{1, 1, 1, 1, 1, 1}});
  REQUIRE(shifts.size() == 1);
  CHECK(shifts[0].members == Members{0, 1});
}
