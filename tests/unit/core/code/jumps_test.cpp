#include "core/code/jumps.h"

#include "tests/support/catch.h"
#include "tests/unit/core/code/code_text.h"

using namespace profd;
using profd::test::CodeText;

namespace {

Jumps jumps_of(const std::string& text, std::uint32_t max_lanes = 8) {
  const CodeText code(text);
  return jumps_within(code.rows(), target_rows(code.rows()), max_lanes);
}

using Rows = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("of two arrows with one around the other the inner one is next to the rows") {
  const Jumps jumps = jumps_of("?5 ?3 . . . r");
  CHECK(jumps.from == Rows{0, 1});
  CHECK(jumps.to == Rows{5, 3});
  CHECK(jumps.lane == Rows{1, 0});
  CHECK(jumps.n_lanes == 2);
}

TEST_CASE("arrows that share no row share a lane, those that touch do not") {
  CHECK(jumps_of("?1 . ?3 . r").lane == Rows{0, 0});
  CHECK(jumps_of("?1 ?2 . r").lane == Rows{0, 1});
}

TEST_CASE("calls and jumps that leave are no arrows") {
  CHECK(jumps_of("c j99 * r").size() == 0);
}

TEST_CASE("what finds no lane has none, and short arrows come first") {
  CHECK(jumps_of("?5 ?3 . . . r", 1).lane == Rows{kNoLane, 0});
  CHECK(jumps_of("?5 ?3 . . . r", 0).lane == Rows{kNoLane, kNoLane});
}
