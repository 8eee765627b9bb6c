// The match of a search one step on from a box, in the order of the picture.
#include "server/feature/match_answer.h"

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

// In order of name: all / main / (draw / read, parse / read), then other / read.
constexpr const char* kMatchText = "main;parse;read 40\nmain;draw;read 30\nother;read 20\nmain 10\n";

MatchAnswer match_step(Viewed& viewed, const MatchRequest& request) {
  auto found = match_answer(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

MatchRequest search_for(const Viewed& viewed, std::string pattern) {
  MatchRequest request;
  request.open = viewed.open;
  request.pattern = std::move(pattern);
  return request;
}

// Names from below the root.
std::string path_of_match(Viewed& viewed, const MatchRequest& request, const MatchAnswer& answer) {
  REQUIRE(answer.match);
  const auto selection = viewed.views.selection(*viewed.open, request.spec, {});
  std::string out;
  for (const std::int64_t key : answer.match->path)
    out += (out.empty() ? "" : "/") +
           key_name(*viewed.open->profile, *(*selection)->boxes->keys, static_cast<Key>(key));
  return out;
}

}  // namespace

TEST_CASE("match: steps go through the picture from left to right, and begin anew behind the last") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  std::vector<std::string> seen;
  bool wrapped = false;
  for (int i = 0; i < 4; ++i) {
    const MatchAnswer answer = match_step(viewed, request);
    seen.push_back(path_of_match(viewed, request, answer));
    wrapped = answer.match->wrapped;
    CHECK(wrapped == (i == 3));
    request.from.path = answer.match->path;
  }
  CHECK(seen ==
        std::vector<std::string>{"main/draw/read", "main/parse/read", "other/read", "main/draw/read"});
}

TEST_CASE("match: back is the same the other way") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  request.back = true;
  MatchAnswer answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "other/read");
  CHECK(answer.match->wrapped);
  request.from.path = answer.match->path;
  answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "main/parse/read");
  CHECK_FALSE(answer.match->wrapped);
}

TEST_CASE("match: by weight the heavier sibling comes first") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  request.order = SiblingOrder::weight;
  CHECK(path_of_match(viewed, request, match_step(viewed, request)) == "main/parse/read");
}

TEST_CASE("match: amounts are the box's own, with shares of the view") {
  Viewed viewed(kMatchText);
  const MatchAnswer answer = match_step(viewed, search_for(viewed, "^main$"));
  REQUIRE(answer.match);
  CHECK(answer.match->name == "main");
  CHECK(answer.match->label == "main");
  CHECK(whole(answer.match->total.value) == 80);
  CHECK(whole(answer.match->self.value) == 10);
  CHECK(answer.match->total.share == 0.8);
  CHECK(whole(answer.head.view_total.value) == 100);
}

TEST_CASE("match: nothing where no box matches, and an expression that is none is refused") {
  Viewed viewed(kMatchText);
  CHECK_FALSE(match_step(viewed, search_for(viewed, "nobody")).match);
  CHECK_FALSE(match_answer(viewed.views, search_for(viewed, "("), {}));
}

TEST_CASE("match: steps stay within a box, and from elsewhere begin at its first") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  const MatchAnswer parse = match_step(viewed, search_for(viewed, "^parse$"));
  request.within.path = parse.match->path;
  MatchAnswer answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "main/parse/read");
  request.from.path = answer.match->path;
  answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "main/parse/read");
  CHECK(answer.match->wrapped);
  request.from.path = match_step(viewed, search_for(viewed, "^other$")).match->path;
  answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "main/parse/read");
}

TEST_CASE("match: a box is named by the number that an answer gave it") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  const MatchAnswer first = match_step(viewed, request);
  request.from.node = first.match->node;
  CHECK(path_of_match(viewed, request, match_step(viewed, request)) == "main/parse/read");
  request.from.node = 1'000'000;
  const auto unknown = match_answer(viewed.views, request, {});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
}

TEST_CASE("match: a path that the view does not have is refused") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "read");
  request.from.path = {99'999};
  CHECK_FALSE(match_answer(viewed.views, request, {}));
  request.from.path = {-1};
  CHECK_FALSE(match_answer(viewed.views, request, {}));
}

TEST_CASE("match: filters and shapes are those of the spec") {
  Viewed viewed(kMatchText);
  MatchRequest request = search_for(viewed, "main");
  request.spec = spec_from("bottom-up | drop function draw");
  const MatchAnswer answer = match_step(viewed, request);
  CHECK(path_of_match(viewed, request, answer) == "main");
  CHECK(whole(answer.match->total.value) == 10);
  CHECK(whole(answer.head.view_total.value) == 70);
  request.spec = spec_from("flat");
  CHECK_FALSE(match_answer(viewed.views, request, {}));
}
