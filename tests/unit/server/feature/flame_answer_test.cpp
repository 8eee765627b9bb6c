#include "server/feature/flame_answer.h"

#include "protocol/json_text.h"
#include "server/dialect/psp/convert_views.h"
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

TEST_CASE("names are grouped as pictures colour them; places come with the details") {
  Viewed viewed("net/http.serve;net/http.read 3\nnet/http.serve;std::sort 2\nplain 1\n");
  const FlameAnswer plain = flame(viewed, {});
  REQUIRE(plain.named.group.size() == plain.names.size());
  const auto group_of = [](const FlameAnswer& answer, const std::string& name) -> std::string {
    for (std::size_t i = 0; i < answer.names.size(); ++i)
      if (answer.names[i] == name)
        return answer.named.group[i] < 0 ? "-"
                                         : answer.groups[static_cast<std::size_t>(answer.named.group[i])];
    return "no such name";
  };
  CHECK(group_of(plain, "net/http.serve") == "net/http");
  CHECK(group_of(plain, "net/http.read") == "net/http");
  CHECK(group_of(plain, "std::sort") == "std");
  CHECK(group_of(plain, "plain") == "-");
  CHECK(group_of(plain, "all") == "-");
  CHECK_FALSE(plain.named.file);
  CHECK_FALSE(plain.boxes.self_text);
  FlameRequest request;
  request.details = true;
  const FlameAnswer full = flame(viewed, request);
  REQUIRE(full.boxes.parent_share);
  CHECK(full.boxes.parent_share->size() == full.boxes.key.size());
  CHECK(full.named.file->size() == full.names.size());
  for (std::size_t i = 0; i < full.boxes.name.size(); ++i) {
    if (full.names[full.boxes.name[i]] != "net/http.read") continue;
    CHECK((*full.boxes.parent_share)[i] == "60.0 %");
    CHECK((*full.boxes.self_text)[i] == "3 · 50.0 %");
  }
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

// What goes over the wire for one picture is at most 300 KB.
TEST_CASE(
    "long names make a layout smaller, not an answer larger, and its hidden matches are of the same boxes") {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const std::string name =
        "project::module" + std::to_string(i % 60) +
        "::Container<std::pair<int, std::basic_string<char>>, std::allocator<int>>::" + "method_" +
        std::to_string(i) + "(unsigned long, std::vector<int> const&)";
    text += "main;" + name + ";leaf" + std::to_string(i) + " " + std::to_string(1000 + i) + "\n";
  }
  Viewed viewed(text);
  FlameRequest request;
  request.open = viewed.open;
  request.layout.viewport_px = 6000;
  request.layout.min_width_px = 0;
  request.layout.max_boxes = 4000;
  request.search = "method_1";
  auto answer = flame_answer(viewed.views, request, {});
  REQUIRE(answer.has_value());
  const std::size_t n_boxes = answer->boxes.x.size(), n_rest = answer->remainder.x.size();
  CHECK(n_boxes > 500);
  CHECK_FALSE(answer->truncated.empty());
  protocol::JsonText json;
  psp::write(json, to_psp(std::move(*answer)));
  const std::string sent = std::move(json).take();
  CHECK(sent.size() <= 300'000);
  CHECK(sent.size() > 200'000);
  const auto hidden = hidden_matches(viewed.views, request, {});
  REQUIRE(hidden.has_value());
  CHECK(hidden->matched_below.size() == n_boxes);
  CHECK(hidden->matched.size() == n_rest);
}
