// Pages of a table add up, whatever is hidden, and say what they are of.
#include "server/feature/table_answer.h"

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kText = "main;parse;read 40\nmain;parse 10\nmain;gc 30\nidle 15\n(root) 5\n";

TableAnswer answer(Viewed& viewed, std::string_view spec, std::size_t limit) {
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.limit = limit;
  auto found = table_answer(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

std::int64_t sum(const TableAnswer& answer) {
  std::int64_t all = 0;
  for (const Value& self : answer.rows.self) all += whole(self);
  if (answer.remainder) all += whole(answer.remainder->amount.value);
  if (answer.own) all += whole(answer.own->value);
  return all;
}

}  // namespace

TEST_CASE("rows, remainder and what is on no row add up to the view") {
  Viewed viewed(kText);
  for (const char* spec :
       {"flat", "flat | hide function /^(main|parse|read)$/", "flat | hide function /./",
        "flat | collapse function /a/", "flat | keep function parse", "flat | drop function main"}) {
    for (const std::size_t limit : {1u, 2u, 100u}) {
      CAPTURE(spec, limit);
      const TableAnswer table = answer(viewed, spec, limit);
      CHECK(sum(table) == whole(table.head.view_total.value));
      CHECK(whole(table.head.total.value) == 100);
      CHECK(table.rows.name.size() <= limit);
      CHECK(table.remainder.has_value() == (table.n_rows > limit));
    }
  }
}

TEST_CASE("stacks without a frame are on no row, and their value is told") {
  Viewed viewed(kText);
  const TableAnswer all = answer(viewed, "flat", 100);
  REQUIRE(all.own);
  CHECK(whole(all.own->value) == 5);
  const TableAnswer hidden = answer(viewed, "flat | hide function idle", 100);
  REQUIRE(hidden.own);
  CHECK(whole(hidden.own->value) == 20);
}

TEST_CASE("no share of a table under filters is more than the whole") {
  Viewed viewed(kText);
  for (const char* spec : {"flat | keep function read", "flat | drop function gc"}) {
    const TableAnswer table = answer(viewed, spec, 100);
    for (const Value& total : table.rows.total) CHECK(whole(total) <= whole(table.head.view_total.value));
    REQUIRE(table.head.view_total.share);
    CHECK(*table.head.view_total.share <= 1);
  }
}

TEST_CASE("a filter that matches nothing is told in the head") {
  Viewed viewed(kText);
  const TableAnswer table = answer(viewed, "flat | drop function nobody", 100);
  CHECK(table.head.warnings == std::vector<std::string>{"`drop function nobody` matches nothing"});
  CHECK(whole(table.head.view_total.value) == 100);
}

TEST_CASE("a level of a tree adds up to the row above it") {
  Viewed viewed(kText);
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  auto roots = table_answer(viewed.views, request, {});
  REQUIRE(roots);
  REQUIRE(roots->rows.key.size() == 2);
  CHECK(roots->names[roots->rows.name[0]] == "main");
  CHECK(whole(roots->rows.total[0]) == 80);
  request.expand = {roots->rows.key[0]};
  request.limit = 1;
  auto below = table_answer(viewed.views, request, {});
  REQUIRE(below);
  REQUIRE(below->remainder);
  CHECK(whole(below->rows.total[0]) + whole(below->remainder->amount.value) +
            (below->own ? whole(below->own->value) : 0) ==
        80);
  request.expand = {12345};
  CHECK_FALSE(table_answer(viewed.views, request, {}));
}

TEST_CASE("rows of one file are shares of the view, as all others are") {
  Viewed viewed("main[a.c:1];f[b.c:2] 6\nmain[a.c:3] 3\nother[c.c:1] 1\n");
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat by line");
  request.file = "a.c";
  request.sort = SortBy::total;
  const auto found = table_answer(viewed.views, request, {});
  REQUIRE(found);
  REQUIRE(found->rows.name.size() == 2);
  CHECK(whole(found->rows.total[0]) == 6);
  CHECK(found->rows.total_share[0] == "60.0 %");
  CHECK(found->rows.total_share[1] == "30.0 %");
  CHECK(whole(found->head.view_total.value) == 10);
  CHECK(!found->own);
  request.search = "nobody";
  CHECK(table_answer(viewed.views, request, {})->rows.name.empty());
  request.spec = spec_from("top-down");
  CHECK(table_answer(viewed.views, request, {}).error().code == ErrorCode::invalid);
}
