#include "core/view/table.h"

#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("a flat table counts a stack once however often a function is on it") {
  CHECK(format_flat(*select_text("main;f;g;f 3\nmain;f 2\nmain 1")) == "f 5 5\ng 3 0\nmain 6 1\n");
  CHECK(format_flat(*select_text("# fractional\na;b 0.5\na 1.25")) == "a 1.75 1.25\nb 0.5 0.5\n");
}

TEST_CASE("a page says what comes after it") {
  const auto selection = select_text("a 1\nb 2\nc 3\nd 4");
  const auto view = flat_view(*selection, {});
  TableRequest request;
  request.offset = 1;
  request.limit = 2;
  const TablePage page = page_of(*selection, *view, request);
  REQUIRE(page.rows.size() == 2);
  CHECK(view->self[page.rows[0]] == Value{3L});
  CHECK(view->self[page.rows[1]] == Value{2L});
  CHECK(page.n_rows == 4);
  CHECK(page.n_left_out == 1);
  CHECK(page.self_left_out == Value{1L});
  request.offset = 10;
  CHECK(page_of(*selection, *view, request).rows.empty());
}

TEST_CASE("one level of a tree lists children heaviest first") {
  const auto selection = select_text("main;a 1\nmain;b;c 5\nmain;d 3\nmain 2");
  TreeRequest request;
  request.path = keys_called(*selection, {"main"});
  request.limit = 2;
  const auto level = tree_level(*selection, request, {});
  REQUIRE(level);
  CHECK(level->total == Value{11L});
  CHECK(level->self == Value{2L});
  CHECK(level->n_children == 3);
  CHECK(level->total_left_out == Value{1L});
  CHECK(level->key == keys_called(*selection, {"b", "d"}));
  CHECK(level->child_total == std::vector<Value>{Value{5L}, 3L});
  CHECK(level->child_self == std::vector<Value>{Value{0L}, 3L});
  CHECK(level->has_children == std::vector<std::uint8_t>{1, 0});
  request.shape = Shape::flat;
  CHECK(tree_level(*selection, request, {}).error().code == ErrorCode::invalid);
  request.shape = Shape::callers;
  CHECK(tree_level(*selection, request, {}).error().code == ErrorCode::invalid);
}
