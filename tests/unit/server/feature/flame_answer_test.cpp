#include "server/feature/flame_answer.h"

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

FlameAnswer flame(Viewed& viewed, FlameRequest request) {
  request.open = viewed.open;
  auto found = flame_answer(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

constexpr const char* kText = "main;parse;read 40\nmain;parse 10\nmain;gc 30\nidle 20\n";

}  // namespace

TEST_CASE("boxes lie inside their parents and say self and total") {
  Viewed viewed(kText);
  const FlameAnswer answer = flame(viewed, {});
  const BoxColumns& boxes = answer.boxes;
  REQUIRE(boxes.total.size() == 6);
  CHECK(whole(boxes.total[0]) == 100);
  CHECK(boxes.parent[0] == -1);
  CHECK(boxes.key[0] == -1);
  std::vector<std::int64_t> below(boxes.total.size());
  for (std::size_t i = 1; i < boxes.total.size(); ++i) {
    REQUIRE(boxes.parent[i] >= 0);
    below[static_cast<std::size_t>(boxes.parent[i])] += whole(boxes.total[i]);
  }
  for (std::size_t i = 0; i < boxes.total.size(); ++i)
    CHECK(below[i] + whole(boxes.self[i]) == whole(boxes.total[i]));
}

TEST_CASE("a filter makes the whole smaller, never a share larger than one") {
  Viewed viewed(kText);
  FlameRequest request;
  request.spec = spec_from("top-down | keep function parse");
  request.search = "read|main";
  const FlameAnswer answer = flame(viewed, request);
  CHECK(whole(answer.head.view_total.value) == 50);
  CHECK(whole(answer.head.total.value) == 100);
  CHECK(answer.head.view_total.share == 1);
  CHECK(whole(answer.zoom_total.value) == 50);
  REQUIRE(answer.search);
  CHECK(whole(answer.search->amount.value) == 50);
  CHECK(answer.search->amount.share == 1);
}

TEST_CASE("a zoom is by keys, and one that the view has not is refused") {
  Viewed viewed(kText);
  const FlameAnswer all = flame(viewed, {});
  FlameRequest request;
  for (std::size_t i = 0; i < all.boxes.name.size(); ++i)
    if (all.names[all.boxes.name[i]] == "main") request.zoom.path = {all.boxes.key[i]};
  CHECK(whole(flame(viewed, request).zoom_total.value) == 80);
  request.open = viewed.open;
  request.zoom.path = {12345};
  CHECK_FALSE(flame_answer(viewed.views, request, {}));
}
