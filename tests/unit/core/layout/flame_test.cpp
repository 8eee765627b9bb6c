#include "core/layout/flame.h"

#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = R"(
  main;parse;read 30
  main;parse 10
  main;draw 20
  idle 5
)";

}  // namespace

TEST_CASE("top-down shows callers above callees with total and self") {
  CHECK(format_tree(*select_text(kProgram)) == dedent(R"(
    all 65 0
      idle 5 5
      main 60 0
        draw 20 20
        parse 40 10
          read 30 30
  )"));
}

TEST_CASE("bottom-up adds every stack along its reversed path") {
  CHECK(format_tree(*select_text("a;b;c 3\nd;c 4\nc 1\na;b 2"), Shape::bottom_up) == dedent(R"(
    all 10 0
      b 2 0
        a 2 2
      c 8 1
        b 3 0
          a 3 3
        d 4 4
  )"));
}

TEST_CASE("callers stand before the first occurrence and callees after the last") {
  const auto selection = select_text("a;f;b;f;c 7\nf 2\nx;f 3");
  CHECK(format_tree(*selection, Shape::callers, {"f"}) == dedent(R"(
    all 12 2
      a 7 7
      x 3 3
  )"));
  CHECK(format_tree(*selection, Shape::callees, {"f"}) == dedent(R"(
    all 12 5
      c 7 7
  )"));
}

TEST_CASE("a zoomed box fills the width under its ancestors") {
  const auto selection = select_text(kProgram);
  LayoutRequest request;
  request.zoom = keys_called(*selection, {"main", "parse"});
  const auto layout = layout_flame(*selection, request, {});
  REQUIRE(layout);
  CHECK(layout->depth == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(layout->parent == std::vector<std::uint32_t>{kNone, 0, 1, 2});
  CHECK(layout->width == std::vector<Value>{Value{40L}, 40L, 40L, 30L});
  CHECK(layout->total == std::vector<Value>{Value{65L}, 60L, 40L, 30L});
  CHECK(layout->total_width == Value{40L});
  CHECK(layout->deepest == 4);
  request.zoom = keys_called(*selection, {"main", "idle"});
  CHECK(layout_flame(*selection, request, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("small siblings become one box that says how many and how much") {
  const auto selection = select_text("main;big 1000\nmain;s1 1\nmain;s2 2\nmain;s3 3\nmain 4");
  LayoutRequest request;
  request.viewport_px = 100;
  request.min_width_px = 1;
  CHECK(format_layout(*selection, *layout_flame(*selection, request, {})) == dedent(R"(
    all 1010 0
      main 1010 4
        big 1000 1000
        3 more 6 0
  )"));
}

TEST_CASE("a full layout keeps the widest boxes and says that it is cut") {
  const auto selection = select_text("a;a1 10\nb;b1 40\nc;c1 30");
  LayoutRequest request;
  request.max_boxes = 3;
  const auto layout = layout_flame(*selection, request, {});
  REQUIRE(layout);
  CHECK(layout->truncated);
  CHECK(format_layout(*selection, *layout) == dedent(R"(
    all 80 0
      b 40 0
      2 more 40 0
  )"));
}

TEST_CASE("values below zero have width but lower the total") {
  const auto selection = select_text("main;a 10\nmain;b -4");
  LayoutRequest request;
  const auto layout = layout_flame(*selection, request, {});
  REQUIRE(layout);
  CHECK(layout->width == std::vector<Value>{Value{14L}, 14L, 10L, 4L});
  CHECK(layout->total == std::vector<Value>{Value{6L}, 6L, 10L, -4L});
}

TEST_CASE("a stopped layout fails as cancelled and the next one is whole") {
  const auto selection = select_text(kProgram);
  StopSource source;
  source.request_stop();
  CHECK(layout_flame(*selection, {}, StopToken(source)).error().code == ErrorCode::cancelled);
  CHECK(layout_flame(*selection, {}, {})->size() == 6);
}
