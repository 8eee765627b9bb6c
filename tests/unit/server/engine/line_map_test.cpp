#include "server/engine/line_map.h"

#include "tests/support/catch.h"

using profd::kNone;
using profd::LineMap;

TEST_CASE("a line map follows lines that move") {
  LineMap map({1, 2, 3, 4});
  map.replace(1, 1, {9, 2});  // a line before line 1
  REQUIRE(map.size() == 5);
  CHECK(map.origin(0) == 0);
  CHECK(map.origin(2) == 1);
  CHECK_FALSE(map.stale(2));
  CHECK(map.origin(4) == 3);
  CHECK(map.origin(1) == kNone);
  CHECK(map.stale(1));
}

TEST_CASE("a changed line is stale until it is changed back") {
  LineMap map({1, 2, 3});
  map.replace(1, 1, {8});
  CHECK(map.origin(1) == 1);
  CHECK(map.stale(1));
  map.replace(1, 1, {2});
  CHECK_FALSE(map.stale(1));
}

TEST_CASE("a deleted line is gone and the ones below move up") {
  LineMap map({1, 2, 3});
  map.replace(0, 2, {1});
  REQUIRE(map.size() == 2);
  CHECK(map.current_of_origin() == std::vector<std::uint32_t>{0, kNone, 1});
}

TEST_CASE("replacing the whole text by itself with one line more changes one line") {
  LineMap map({1, 2, 3, 4, 5});
  map.replace(0, 5, {1, 2, 7, 3, 4, 5});
  CHECK(map.origin(2) == kNone);
  CHECK(map.origin(5) == 4);
  CHECK_FALSE(map.stale(5));
}
