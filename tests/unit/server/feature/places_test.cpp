#include "server/feature/places.h"

#include "server/feature/report_page.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

Places places(Viewed& viewed, PlacesRequest request) {
  request.open = viewed.open;
  auto found = hot_places(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

constexpr const char* kPlacesText = "main[m.c:1];read[r.c:5] 6\nmain[m.c:2];draw[d.c:7] 3\nmain[m.c:2] 1\n";

}  // namespace

TEST_CASE("places are the hottest first, and those after them are added up") {
  Viewed viewed(kPlacesText);
  PlacesRequest request;
  request.limit = 1;
  const Places found = places(viewed, request);
  REQUIRE(found.places.size() == 1);
  CHECK(found.places[0].name == "read");
  CHECK(found.places[0].file == "r.c");
  CHECK(found.places[0].path.empty());
  REQUIRE(found.remainder);
  CHECK(whole(found.remainder->amount.value) == 4);
}

TEST_CASE("places by line keep the lines of a function apart") {
  Viewed viewed(kPlacesText);
  PlacesRequest request;
  request.spec = spec_from("flat by line");
  request.sort = SortBy::total;
  request.pattern = "MAIN";
  const Places found = places(viewed, request);
  REQUIRE(found.places.size() == 2);
  CHECK(found.places[0].line == 1);
  CHECK(whole(found.places[0].total) == 6);
  CHECK(found.places[1].line == 2);
  CHECK(whole(found.places[1].total) == 4);
}

TEST_CASE("a function without a line that it begins on is at the line of it that costs most") {
  Viewed viewed(kPlacesText);
  const Places found = places(viewed, {});
  REQUIRE(found.places.size() == 3);
  CHECK(found.places[0].name == "read");
  CHECK(found.places[0].line == 5);
  CHECK(found.places[2].name == "main");
  CHECK(found.places[2].line == 2);
}

TEST_CASE("where no source is in the workspace, no place with source is given") {
  Viewed viewed(kPlacesText);
  PlacesRequest request;
  request.only_with_source = true;
  const Places found = places(viewed, request);
  CHECK(found.places.empty());
  CHECK(places_page(*viewed.open, found).line.find('\n') == std::string::npos);
}
