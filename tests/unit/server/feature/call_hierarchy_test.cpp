#include "server/feature/call_hierarchy.h"

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

Key hierarchy_key(Viewed& viewed, const char* name) {
  const auto selection = viewed.views.selection(*viewed.open, ViewSpec{}, {});
  REQUIRE(selection);
  const auto keys = find_keys(*(*selection)->profile, *(*selection)->boxes->keys, name);
  REQUIRE(keys.size() == 1);
  return keys.front();
}

CallHierarchy hierarchy_of(Viewed& viewed, const char* name, Shape shape, std::size_t limit = 100) {
  HierarchyRequest request;
  request.open = viewed.open;
  request.key = hierarchy_key(viewed, name);
  request.shape = shape;
  request.limit = limit;
  auto found = call_hierarchy(viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

}  // namespace

TEST_CASE("a hierarchy has callers and callees with their shares of the function, recursion left out") {
  Viewed viewed("main;f;g;f 5\nother;f 3\nf 2\nmain 10\n");
  const CallHierarchy in = hierarchy_of(viewed, "f", Shape::callers);
  CHECK(in.of.place.name == "f");
  CHECK(in.of.detail == "total 50.0 % \u00b7 self 50.0 %");
  REQUIRE(in.calls.size() == 2);
  CHECK(in.calls[0].item.place.name == "main");
  CHECK(in.calls[0].item.detail == "50.0 %  5");
  CHECK(in.calls[1].item.place.name == "other");
  CHECK(in.left.empty());
  const CallHierarchy out = hierarchy_of(viewed, "f", Shape::callees);
  CHECK(out.calls.empty());  // the innermost f calls nobody
  const CallHierarchy of_main = hierarchy_of(viewed, "main", Shape::callees);
  REQUIRE(of_main.calls.size() == 1);
  CHECK(of_main.calls[0].item.place.name == "f");
}

TEST_CASE("calls that are left out are counted with what they have") {
  Viewed viewed("a;f 5\nb;f 3\nc;f 2\n");
  const CallHierarchy in = hierarchy_of(viewed, "f", Shape::callers, 1);
  REQUIRE(in.calls.size() == 1);
  CHECK(in.left == "2 more: 5");
}

TEST_CASE("calls stand on the lines that were measured in the caller, and on none that is not known") {
  Viewed viewed("main[a.c:7];f[a.c:3] 5\nmain[a.c:9];f[a.c:3] 1\n");
  const CallHierarchy in = hierarchy_of(viewed, "f", Shape::callers);
  REQUIRE(in.calls.size() == 1);
  CHECK(in.calls[0].lines.empty());  // no file of the workspace
  CHECK(in.calls[0].item.place.line == 7);
}

TEST_CASE("a number that is no function's is refused") {
  Viewed viewed("a;f 5\n");
  HierarchyRequest request;
  request.open = viewed.open;
  request.key = 1000;
  const auto found = call_hierarchy(viewed.views, request, {});
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::not_found);
}
