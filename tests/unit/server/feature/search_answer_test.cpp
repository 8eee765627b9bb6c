#include "server/feature/search_answer.h"

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("a search counts a stack once and lists the names by total") {
  Viewed viewed("main;parse;parse_row 40\nmain;gc 50\nmain;parse 10\n");
  SearchAnswerRequest request;
  request.open = viewed.open;
  request.pattern = "parse";
  auto found = search_answer(viewed.views, request, {});
  REQUIRE(found);
  CHECK(whole(found->matched.value) == 50);
  CHECK(found->matched.share == 0.5);
  CHECK(found->n_names == 2);
  REQUIRE(found->matches.size() == 2);
  CHECK(found->matches[0].name == "parse");
  CHECK(whole(found->matches[0].total) == 50);
  CHECK(whole(found->matches[0].self) == 10);
  CHECK(found->matches[1].name == "parse_row");
  request.limit = 1;
  CHECK(search_answer(viewed.views, request, {})->matches.size() == 1);
  CHECK(search_answer(viewed.views, request, {})->n_names == 2);
  request.pattern = "(";
  CHECK_FALSE(search_answer(viewed.views, request, {}));
}

TEST_CASE("shares of a search under a filter are of what the filter keeps") {
  Viewed viewed("main;parse 40\nmain;gc 50\nmain;parse;gc 10\n");
  SearchAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down | keep function parse");
  request.pattern = "gc";
  auto found = search_answer(viewed.views, request, {});
  REQUIRE(found);
  CHECK(whole(found->matched.value) == 10);
  CHECK(found->matched.share == 0.2);
}
