#include "server/feature/callers_answer.h"

#include "server/feature/report_page.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("the callers of a function are counted at its first occurrence on a stack") {
  Viewed viewed("main;f;g;f 5\nother;f 3\nf 2\nmain 10\n");
  auto found = callers_answer(viewed.views, *viewed.open, "f", {}, 10, {});
  REQUIRE(found);
  CHECK(whole(found->total) == 10);
  CHECK(whole(found->whole.total) == 20);
  REQUIRE(found->callers.size() == 2);
  CHECK(found->callers[0].name == "main");
  CHECK(whole(found->callers[0].total) == 5);
  CHECK(found->callers[1].name == "other");
  CHECK(whole(found->callers[1].total) == 3);
  CHECK(callers_answer(viewed.views, *viewed.open, "f", {}, 1, {})->callers.size() == 1);
}

TEST_CASE("a function that is none, or that is several, is refused") {
  Viewed viewed("main;a/f.run 5\nmain;b/f.run 3\n");
  const auto none = callers_answer(viewed.views, *viewed.open, "nobody", {}, 10, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::not_found);
  const auto several = callers_answer(viewed.views, *viewed.open, "f.run", {}, 10, {});
  REQUIRE_FALSE(several);
  CHECK(several.error().code == ErrorCode::invalid);
}

TEST_CASE("a page of callers keeps names from being markup") {
  Viewed viewed("<b>evil</b>;f 5\n");
  auto found = callers_answer(viewed.views, *viewed.open, "f", {}, 10, {});
  REQUIRE(found);
  const ReportPage page = callers_page(*viewed.open, "f", *found);
  CHECK(page.markdown.find("\n<b>") == std::string::npos);
  CHECK(page.markdown.find("evil") != std::string::npos);
  CHECK(page.line.find('\n') == std::string::npos);
}
