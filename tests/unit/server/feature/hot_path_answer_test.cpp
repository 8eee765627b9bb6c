#include "server/feature/hot_path_answer.h"

#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

using Texts = std::vector<std::string>;

HotPathAnswer answer(Viewed& viewed, std::string_view spec, BoxTarget from = {}) {
  HotPathAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.from = std::move(from);
  auto found = hot_path_answer(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

Texts row_names(const HotPathAnswer& path) {
  Texts names;
  for (const std::uint32_t name : path.rows.name) names.push_back(path.names[name]);
  return names;
}

}  // namespace

TEST_CASE("a hot path has the rows that the tables of its levels begin with") {
  Viewed viewed("main;parse;read 40\nmain;parse 10\nmain;gc 30\nidle 15\n");
  for (const char* spec : {"top-down", "bottom-up", "callers of read", "callees of main",
                           "top-down | hide function parse", "top-down by module"}) {
    CAPTURE(spec);
    const HotPathAnswer path = answer(viewed, spec);
    CHECK(!path.rows.key.empty());
    TableAnswerRequest level;
    level.open = viewed.open;
    level.spec = spec_from(spec);
    level.limit = 1;
    for (std::size_t i = 0; i < path.rows.key.size(); ++i) {
      const auto table = table_answer(viewed.views, level, {});
      REQUIRE(table);
      REQUIRE(table->rows.key.size() == 1);
      CHECK(path.rows.key[i] == table->rows.key[0]);
      CHECK(path.names[path.rows.name[i]] == table->names[table->rows.name[0]]);
      CHECK(path.rows.total_text[i] == table->rows.total_text[0]);
      CHECK(path.rows.total_share[i] == table->rows.total_share[0]);
      CHECK(path.rows.self_text[i] == table->rows.self_text[0]);
      CHECK(path.rows.children[i] == table->rows.children[0]);
      level.expand.push_back(path.rows.key[i]);
    }
  }
}

TEST_CASE("a hot path begins at a box, and names lead to one as far as there are boxes") {
  Viewed viewed("main;parse;read 40\nmain;parse 10\nmain;gc 30\nidle 15\n");
  const HotPathAnswer whole = answer(viewed, "top-down");
  CHECK(row_names(whole) == Texts{"main", "parse", "read"});
  CHECK(whole.from.empty());
  CHECK(whole.end == HotPathEnd::leaf);
  CHECK(whole.from_total.text == "95");
  BoxTarget from;
  from.path = {whole.rows.key[0]};
  CHECK(row_names(answer(viewed, "top-down", from)) == Texts{"parse", "read"});
  BoxTarget named;
  named.names = NamePath{{"main", "nobody"}, false};
  const HotPathAnswer part = answer(viewed, "top-down", named);
  CHECK(part.from == from.path);
  CHECK(part.from_total.share_text == "84.2 %");
  CHECK(row_names(part) == Texts{"parse", "read"});
}

TEST_CASE("a hot path to a box that is not there fails") {
  Viewed viewed("main;parse 1\n");
  HotPathAnswerRequest request;
  request.open = viewed.open;
  request.from.path = {1'000'000};
  const auto found = hot_path_answer(viewed.views, request, {});
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::not_found);
}
