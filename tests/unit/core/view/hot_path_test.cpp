#include "core/view/hot_path.h"

#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

HotPath path_of(const Selection& selection, const HotPathRequest& request) {
  auto path = hot_path(selection, request, {});
  REQUIRE(path);
  return std::move(*path);
}

}  // namespace

TEST_CASE("a hot path ends where no child has half, and half is enough") {
  const auto selection = select_text("main;a;b;x 3\nmain;a;b;y 3\nmain;a;b;z 1\nmain;a 7\nother 6");
  const HotPath path = path_of(*selection, {});
  CHECK(path.key == keys_called(*selection, {"main", "a", "b"}));
  CHECK(path.total == std::vector<Value>{Value{14L}, 14L, 7L});
  CHECK(path.self == std::vector<Value>{Value{0L}, 7L, 0L});
  CHECK(path.has_children == std::vector<std::uint8_t>{1, 1, 1});
  CHECK(path.end == HotPathEnd::spread);
}

TEST_CASE("a hot path says when it goes on, and when nothing is below") {
  const auto selection = select_text("a;b;c;d 4");
  HotPathRequest request;
  request.limit = 2;
  CHECK(path_of(*selection, request).key == keys_called(*selection, {"a", "b"}));
  CHECK(path_of(*selection, request).end == HotPathEnd::limit);
  request.limit = 4;
  CHECK(path_of(*selection, request).end == HotPathEnd::leaf);
  CHECK(path_of(*select_text("a 0"), {}).key.empty());
}

TEST_CASE("from the root the first step is taken whatever its part; from a box it is not") {
  const auto selection = select_text("main;a 1\nmain;b 1\nmain;c 1\ne 1\nf 1");
  HotPathRequest request;
  CHECK(path_of(*select_text("a 1\nb 1\nc 1"), request).key.size() == 1);
  request.from = keys_called(*selection, {"main"});
  CHECK(path_of(*selection, request).key.empty());
  CHECK(path_of(*selection, request).end == HotPathEnd::spread);
}

TEST_CASE("of children that weigh the same a hot path takes the first of their level") {
  const auto selection = select_text("main;b 2\nmain;a 2");
  HotPathRequest request;
  request.from = keys_called(*selection, {"main"});
  CHECK(path_of(*selection, request).key == keys_called(*selection, {"a"}));
}

TEST_CASE("what weighs is what was measured, of whichever sign") {
  const auto selection = select_text("main;a -9223372036854775807\nmain;b 5");
  const HotPath path = path_of(*selection, {});
  CHECK(path.key == keys_called(*selection, {"main", "a"}));
  CHECK(path.total.back() == Value{-9223372036854775807L});
}

TEST_CASE("a hot path goes up from a focus, too, and fails where there is no such box") {
  const auto selection = select_text("main;a;f 5\nmain;b;f 1");
  HotPathRequest request;
  request.shape = Shape::callers;
  request.focus = keys_called(*selection, {"f"});
  CHECK(path_of(*selection, request).key == keys_called(*selection, {"a", "main"}));
  request.from = keys_called(*selection, {"f"});
  CHECK(hot_path(*selection, request, {}).error().code == ErrorCode::not_found);
  request.shape = Shape::flat;
  CHECK(hot_path(*selection, request, {}).error().code == ErrorCode::invalid);
}
