#include "core/compare/family.h"

#include <limits>

#include "tests/support/catch.h"

using namespace profd;

namespace {
using S = Standing;
}

TEST_CASE("the smallest chance is held against all questions, the next against those that are left") {
  // 0.05 / 4 = 0.0125, / 3 = 0.0167, / 2 = 0.025.
  const std::vector<FamilyTest> tests{{0.03, 0}, {0.012, 0}, {0.9, 0}, {0.016, 0}};
  const Family family = stand_out(tests);
  CHECK(family.n_asked == 4);
  CHECK(family.standing == std::vector<S>{S::candidate, S::stands_out, S::none, S::stands_out});
}

TEST_CASE("one that fails ends the list, though a later one would pass its part") {
  // 0.02 fails 0.05 / 3; 0.024 would pass 0.05 / 2.
  const Family family = stand_out(std::vector<FamilyTest>{{0.02, 0}, {0.024, 0}, {0.5, 0}});
  CHECK(family.standing == std::vector<S>{S::candidate, S::candidate, S::none});
}

TEST_CASE("questions that could never be answered cost nothing") {
  // A thousand functions of one sample, whose p is 1 at best, beside two that have many.
  std::vector<FamilyTest> tests(1000, {1, 1});
  tests.push_back({0.02, 1e-9});
  tests.push_back({0.3, 1e-9});
  const Family family = stand_out(tests);
  CHECK(family.n_asked == 2);
  CHECK(family.standing[1000] == S::stands_out);
  CHECK(family.standing[1001] == S::none);
}

TEST_CASE("as many questions are asked as there are parts that they can reach") {
  // Reach 0.05: three. Reach 0.025: three. Reach 0.0167: two.
  const Family family =
      stand_out(std::vector<FamilyTest>{{0.001, 0.001}, {0.015, 0.01}, {0.022, 0.02}, {1, 0.06}});
  CHECK(family.n_asked == 2);
  CHECK(family.standing == std::vector<S>{S::stands_out, S::stands_out, S::none, S::none});
}

TEST_CASE("a question that the others leave alone has the whole level") {
  const Family family = stand_out(std::vector<FamilyTest>{{0.04, 0.04}, {1, 0.06}, {1, 0.07}});
  CHECK(family.n_asked == 1);
  CHECK(family.standing == std::vector<S>{S::stands_out, S::none, S::none});
}

TEST_CASE("what is no chance is not asked") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Family family = stand_out(std::vector<FamilyTest>{{nan, 0}, {0.04, 0}, {-1, 0}, {0.01, nan}, {2, 0}});
  CHECK(family.n_asked == 1);
  CHECK(family.standing == std::vector<S>{S::none, S::stands_out, S::none, S::none, S::none});
  CHECK(stand_out({}).n_asked == 0);
  CHECK(stand_out({}).standing.empty());
}

TEST_CASE("the order of questions does not matter") {
  const std::vector<FamilyTest> tests{{0.01, 0}, {0.04, 0.03}, {0.002, 0.001}, {0.01, 0}, {0.7, 0}};
  const std::vector<FamilyTest> reversed(tests.rbegin(), tests.rend());
  const Family one = stand_out(tests), other = stand_out(reversed);
  CHECK(one.standing == std::vector<S>(other.standing.rbegin(), other.standing.rend()));
}
