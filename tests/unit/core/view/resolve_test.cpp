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
  CHECK(select_text(kGo, "top-down | drop function sha256.block")->sums->total == Value{16L});
  CHECK(select_text(kGo, "top-down | keep function serve")->sums->total == Value{5L});
  CHECK(select_text(kGo, "top-down | keep fragment main > sha512.block")->sums->total == Value{10L});
  CHECK(select_text("a/f 3\nf 4\n", "top-down | keep function f")->sums->total == Value{4L});
  CHECK(select_text(kGo, "top-down | hide function sha256.block")->boxes->hidden.size() > 0);
}

TEST_CASE("a short name of several functions is refused with all of them") {
  CHECK(
      error_of("top-down | drop function block") ==
      "\"block\" is short for 2 functions: crypto/sha256.block, crypto/sha512.block; a whole name picks one");
}

TEST_CASE("a filter that matches nothing is said, wherever it stands") {
  CHECK(select_text(kGo, "top-down | drop function idle")->warnings().empty());
  CHECK(
      select_text(
          kGo, "top-down | drop function gone | keep function /^main/ | hide module x.so | collapse file /c/")
          ->warnings() == std::vector<std::string>{"`drop function gone` matches nothing",
                                                   "`hide module x.so` matches nothing",
                                                   "`collapse file /c/` matches nothing"});
  CHECK(select_text(kGo, "top-down | drop fragment main.main > idle")->warnings().size() == 1);
  // Parts keep their warnings.
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const auto first =
      *select(profile_from_text(kGo), parse_view_spec("top-down | drop function gone").value(), {}, kept);
  ViewSpec spec = parse_view_spec("flat by module | drop function gone | hide file y").value();
  const auto second = select(first->profile, spec, StopToken{}, kept);
  REQUIRE(second);
  CHECK((*second)->warnings() ==
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
        "\"init\" is the name of 2 frames: \"init (src/a.c)\", \"init (src/b.c)\"");
  CHECK(keys_of_focus(*c, {"init (a.c)"}).value() != keys_of_focus(*c, {"init (src/b.c)"}).value());
}

TEST_CASE("a name with its file means that one alone, in filters too, and candidates can be typed") {
  constexpr std::string_view kPython =
      "main[app.py:1];scan[lib/util_a.py:3] 3\nmain[app.py:1];scan[lib/util_b.py:3] 4\nscan[util_a.py:9] 1\n";
  CHECK(select_text(kPython, "top-down | keep function scan")->sums->total == Value{8L});
  CHECK(select_text(kPython, "top-down | keep function scan (util_b.py)")->sums->total == Value{4L});
  CHECK(select_text(kPython, "top-down | keep fragment main > scan (lib/util_a.py)")->sums->total ==
        Value{3L});
  CHECK(select_text(kPython, "top-down | drop function \"scan (util_b.py)\"")->sums->total == Value{4L});
  const auto selection = select(profile_from_text(kPython),
                                parse_view_spec("top-down | drop function scan (util_a.py)").value(), {});
  REQUIRE(!selection);
  CHECK(selection.error().message ==
        "\"scan (util_a.py)\" is short for 2 functions: \"scan (lib/util_a.py)\", \"scan (util_a.py)\"; a "
        "whole name picks one");
}

TEST_CASE("names with spaces, brackets and commas are taken as they are shown, and as errors quote them") {
  constexpr std::string_view kCpp =
      "main;lists::Bag<int, std::less<int> >::reduce(int) 3\n"
      "main;lists::Bag<long, std::less<long> >::reduce(int) 4\n"
      "main;operator<(A const&, B const&) 5\n";
  CHECK(select_text(kCpp, "top-down | drop function lists::Bag<int, std::less<int> >::reduce(int)")
            ->sums->total == Value{9L});
  CHECK(select_text(kCpp, "flat | keep function operator<(A const&, B const&) | hide function main")
            ->sums->total == Value{5L});
  const auto error =
      select(profile_from_text(kCpp), parse_view_spec("top-down | drop function reduce").value(), {});
  REQUIRE(!error);
  CHECK(error.error().message ==
        "\"reduce\" is short for 2 functions: \"lists::Bag<int, std::less<int> >::reduce(int)\", "
        "\"lists::Bag<long, "
        "std::less<long> >::reduce(int)\"; a whole name picks one");
  const auto whole = select_text(kCpp);
  CHECK(keys_of_focus(*whole, {"\"lists::Bag<int, std::less<int> >::reduce(int)\""}));
  CHECK(parse_view_spec("callers of lists::Bag<int, std::less<int> >::reduce(int) > main by line")
            ->focus.size() == 2);
}
