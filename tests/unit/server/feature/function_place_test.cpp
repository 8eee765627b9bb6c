#include "server/feature/function_place.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

TEST_CASE("a function's place is known by its name when one function has it") {
  const ProfilePtr profile = test::profile_from_text(
      "main[a.go:3 start=2];work[b.go:9 start=7] 1\nmain[a.go:3 start=2];twice[a.go:20 start=18] 1\n"
      "main[a.go:3 start=2];twice[c.go:5 start=4] 1\nmain[a.go:3 start=2];bare 1\n");
  const auto place = only_place_of(*profile, "work", 100);
  REQUIRE(place);
  CHECK(place->file == "b.go");
  CHECK(place->line == 7);
  CHECK_FALSE(only_place_of(*profile, "twice", 100));
  CHECK_FALSE(only_place_of(*profile, "nobody", 100));
  REQUIRE(only_place_of(*profile, "bare", 100));
  CHECK(only_place_of(*profile, "bare", 100)->file.empty());
  // What is too long to be told is as if it were not known.
  REQUIRE(only_place_of(*profile, "work", 3));
  CHECK(only_place_of(*profile, "work", 3)->file.empty());
  CHECK(only_place_of(*profile, "work", 3)->line == 0);
}
