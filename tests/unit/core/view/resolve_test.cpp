#include "core/view/resolve.h"

#include "core/view/focus.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kGo = R"(
  main.main;crypto/sha256.block 30
  main.main;crypto/sha512.block 10
  main.main;net/http.(*conn).serve 5
  idle 1
)";

std::string error_of(std::string_view spec) {
  const auto selection = select(profile_from_text(kGo), parse_view_spec(spec).value(), StopToken{});
  REQUIRE(!selection);
  return selection.error().message;
}

}  // namespace

TEST_CASE("a name is shown as its end after a separator, as its short form and with gaps") {
  CHECK(is_shown_as("crypto/sha256.block", "sha256.block"));
  CHECK(is_shown_as("crypto/sha256.block", "block"));
  CHECK(!is_shown_as("crypto/sha256.block", "lock"));
  CHECK(!is_shown_as("crypto/sha256.block", "crypto"));
  CHECK(is_shown_as("net/http.(*conn).serve", "http.(*conn).serve"));
  CHECK(is_shown_as("Foo<int>::bar(char const*) const", "Foo<…>::bar"));
  CHECK(is_shown_as("Foo<int>::bar(char const*) const", "bar"));
  CHECK(is_shown_as("org.apache.spark.Executor.run", "o.a.s.Executor.run"));
  CHECK(is_shown_as("org.apache.spark.Executor.run", "Executor.run"));
  CHECK(is_shown_as("core::ops::call_once::h0123456789abcdef", "ops::call_once"));
  CHECK(is_shown_as("std::map<std::string, int, Less>::find(int) const", "std::map<…, Less>::find"));
  CHECK(!is_shown_as("std::map<std::string, int, Greater>::find(int) const", "std::map<…, Less>::find"));
  CHECK(is_shown_as("github.com/u/m/pkg.Sort[go.shape.int,go.shape.string]", "pkg.Sort[go.shape.int, …]"));
  CHECK(!is_shown_as("main", ""));
  CHECK(!is_shown_as("", "main"));
  CHECK(!is_shown_as("a", "…"));
}

TEST_CASE("filters take names as they are shown, the whole name before a short one") {
  CHECK(select_text(kGo, "top-down | drop function sha256.block")->total == Value{16L});
  CHECK(select_text(kGo, "top-down | keep function serve")->total == Value{5L});
  CHECK(select_text(kGo, "top-down | keep fragment main > sha512.block")->total == Value{10L});
  CHECK(select_text("a/f 3\nf 4\n", "top-down | keep function f")->total == Value{4L});
  CHECK(select_text(kGo, "top-down | hide function sha256.block")->hidden.size() > 0);
}

TEST_CASE("a short name of several functions is refused with all of them") {
  CHECK(
      error_of("top-down | drop function block") ==
      "\"block\" is short for 2 functions: crypto/sha256.block, crypto/sha512.block; a whole name picks one");
}

TEST_CASE("a filter that matches nothing is said, wherever it stands") {
  CHECK(select_text(kGo, "top-down | drop function idle")->warnings.empty());
  CHECK(
      select_text(
          kGo, "top-down | drop function gone | keep function /^main/ | hide module x.so | collapse file /c/")
          ->warnings == std::vector<std::string>{"`drop function gone` matches nothing",
                                                 "`hide module x.so` matches nothing",
                                                 "`collapse file /c/` matches nothing"});
  CHECK(select_text(kGo, "top-down | drop fragment main.main > idle")->warnings.size() == 1);
  // What is shared with a similar selection keeps its warnings.
  const auto first = select_text(kGo, "top-down | drop function gone");
  ViewSpec spec = parse_view_spec("flat by module | drop function gone | hide file y").value();
  const auto second = select(first->profile, spec, StopToken{}, first);
  REQUIRE(second);
  CHECK((*second)->warnings ==
        std::vector<std::string>{"`drop function gone` matches nothing", "`hide file y` matches nothing"});
}

TEST_CASE("a focus takes names as they are shown, also with the file that tells them apart") {
  const auto go = select_text(kGo);
  CHECK(keys_of_focus(*go, {"sha256.block"}).value() == keys_of_focus(*go, {"crypto/sha256.block"}).value());
  CHECK(keys_of_focus(*go, {"nobody"}).error().code == ErrorCode::not_found);
  CHECK(keys_of_focus(*go, {"block"}).error().message ==
        "\"block\" is the name of 2 frames: crypto/sha256.block, crypto/sha512.block");
  const auto c = select_text("main;init[src/a.c:1] 3\nmain;init[src/b.c:1] 4\n");
  CHECK(keys_of_focus(*c, {"init"}).error().message ==
        "\"init\" is the name of 2 frames: init (src/a.c), init (src/b.c)");
  CHECK(keys_of_focus(*c, {"init (a.c)"}).value() != keys_of_focus(*c, {"init (src/b.c)"}).value());
}
