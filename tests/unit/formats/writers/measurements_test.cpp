#include "formats/writers/measurements.h"

#include <limits>

#include "tests/support/catch.h"

using namespace profd;
using profd::writers::multiplied;

TEST_CASE("a multiplied value is rounded to the nearest and held at the ends of the type") {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(multiplied(Value{std::int64_t{-3}}, 1000) == -3000);
  CHECK(multiplied(Value{kMost / 2}, 3) == kMost);
  CHECK(multiplied(Value{kLeast / 2}, 3) == kLeast);
  CHECK(multiplied(Value{2.7}, 1) == 3);
  CHECK(multiplied(Value{-2.7}, 1) == -3);
  CHECK(multiplied(Value{0.0004}, 1000) == 0);
  CHECK(multiplied(Value{1e18}, 1000) == kMost);
  CHECK(multiplied(Value{-1e18}, 1000) == kLeast);
}
