#include "server/runtime/guarded_post.h"

#include <optional>

#include "tests/support/catch.h"
#include "tests/support/strand.h"

using namespace profd;
using profd::test::Strand;

TEST_CASE("what was posted runs while its owner is there, and never after") {
  Strand strand;
  int n = 0;
  std::optional<GuardedPost> post(std::in_place, strand.post());
  const GuardedPost::Shared shared = post->shared();
  (*post)([&] { ++n; });
  shared([&] { ++n; });
  REQUIRE(strand.run_one());
  CHECK(n == 1);
  CHECK(shared.owner_is_there());
  post.reset();
  REQUIRE(strand.run_one());  // the second one, posted before
  CHECK(n == 1);
  CHECK_FALSE(shared.owner_is_there());
  shared([&] { ++n; });
  CHECK_FALSE(strand.run_one(std::chrono::milliseconds(0)));
}

TEST_CASE("a task may end its owner") {
  Strand strand;
  int n = 0;
  std::optional<GuardedPost> post(std::in_place, strand.post());
  (*post)([&] { post.reset(); });
  (*post)([&] { ++n; });
  REQUIRE(strand.run_one());
  REQUIRE(strand.run_one());
  CHECK(n == 0);
}
