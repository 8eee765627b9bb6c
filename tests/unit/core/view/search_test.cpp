#include "core/view/search.h"

#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = "main;Read;read;copy 3\nmain;read 4\nmain;draw 5";

Value matched(std::string_view pattern, std::string_view spec = "top-down") {
  return search(*select_text(kProgram, spec), pattern, {})->matched;
}

}  // namespace

TEST_CASE("the matched share counts each stack once") {
  CHECK(matched("^read$") == Value{7L});
  CHECK(matched("main|read|copy") == Value{12L});
  CHECK(matched("nothing") == Value{0L});
  CHECK(search(*select_text(kProgram), "^read$", {})->n_keys == 2);
}

TEST_CASE("a search is case-sensitive once it has an upper-case letter") {
  CHECK(matched("READ") == Value{0L});
  CHECK(matched("Read") == Value{3L});
  CHECK(matched("\\Sead") == Value{7L});
}

TEST_CASE("hidden frames and dropped stacks do not match") {
  CHECK(matched("^read$", "top-down | hide function read") == Value{3L});
  CHECK(matched("^read$", "top-down | drop function copy") == Value{4L});
}

TEST_CASE("a bad or oversized expression is refused") {
  const auto selection = select_text(kProgram);
  CHECK(search(*selection, "(", {}).error().code == ErrorCode::invalid);
  CHECK(search(*selection, std::string(2000, 'a'), {}).error().code == ErrorCode::limit);
  CHECK(search(*selection, "((((a{100}){100}){100}){100})", {}).error().code != ErrorCode::internal);
}
