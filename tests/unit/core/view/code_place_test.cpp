#include "core/view/code_place.h"

#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/code_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

std::int64_t total_of(const ProfilePtr& profile, std::string_view spec) {
  const auto selection = select(profile, *parse_view_spec(spec), {});
  REQUIRE(selection);
  return std::get<std::int64_t>((*selection)->sums->total);
}

}  // namespace

TEST_CASE("a place in code is a module and an address") {
  CHECK(parse_code_place("libx.so+0x1f")->address == 0x1f);
  CHECK(parse_code_place("/a b/c++0x1+0x1F")->module == "/a b/c++0x1");
  CHECK(parse_code_place("k+0xffffffffffffffff")->address == ~std::uint64_t{0});
  for (const char* text :
       {"", "+0x1", "libx.so", "libx.so+0x", "libx.so+0x1g", "a+0x1ffffffffffffffff", "a+0x-1"}) {
    CAPTURE(text);
    CHECK(!parse_code_place(text));
  }
}

TEST_CASE("a range of code is a module and two addresses, the second behind the first") {
  const auto range = parse_code_range("/a b/c++0x1+0x10..0x8F");
  REQUIRE(range);
  CHECK(range->module == "/a b/c++0x1");
  CHECK(range->from == 0x10);
  CHECK(range->to == 0x8f);
  for (const char* text : {"", "libx.so+0x10", "libx.so+0x10..80", "libx.so+0x10..0x10", "libx.so+0x10..0xf",
                           "libx.so..0x10", "+0x1..0x2", "a+0x..0x2", "a+0x1..0x", "a+0x1..0x2 "}) {
    CAPTURE(text);
    CHECK(!parse_code_range(text));
  }
}

TEST_CASE("stacks are kept by instructions: callers where they call, of a binary wherever it was loaded") {
  CodeProfile code;
  const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x2000, 8);
  code.stack({code.frame("f", {0x1008, f, 1, true}), code.frame("g", {0x2004, g, 2})}, 1);
  code.stack({code.frame("f", {0x1008, f, 1})}, 2);  // met there, behind the call
  code.stack({code.frame("h", {0, {}, 1})}, 4);
  const ProfilePtr profile = code.finish();
  CHECK(total_of(profile, "flat | keep code app+0x1003..0x1008") == 1);
  CHECK(total_of(profile, "flat | keep code /b/app+0x1008..0x1009") == 2);
  CHECK(total_of(profile, "flat | keep code app+0x1000..0x2004") == 3);
  CHECK(total_of(profile, "flat | drop code app+0x2004..0x2005") == 6);
  CHECK(total_of(profile, "flat | keep code app+0x0..0x1000") == 0);
  CHECK(total_of(profile, "flat | keep code other+0x0..0x9000") == 0);
  CHECK(select(profile, *parse_view_spec("flat | keep code app+0x9..0x1"), {}).error().code ==
        ErrorCode::invalid);
}

TEST_CASE("stacks are kept by the piece of code that holds an address") {
  CodeProfile code;
  const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x2000, 8);
  const FrameId in_f = code.frame("f", {0x1008, f, 1, true}), in_g = code.frame("g", {0x2004, g, 2});
  code.stack({in_f, in_g}, 1);
  code.stack({code.frame("f", {0x1001, f, 1})}, 2);
  code.stack({code.frame("h", {0x3000, {}, 1})}, 4);
  const ProfilePtr profile = code.finish();
  CHECK(total_of(profile, "flat | keep code app+0x1000") == 3);
  CHECK(total_of(profile, "flat | keep code /b/app+0x100f") == 3);
  CHECK(total_of(profile, "flat | drop code app+0x2007") == 6);
  CHECK(total_of(profile, "flat | keep code app+0x1010") == 0);
  CHECK(total_of(profile, "flat | keep code other+0x1000") == 0);
  CHECK(total_of(profile, "flat | keep code app+0x3000") == 4);  // of no piece: that address alone
  CHECK(select(profile, *parse_view_spec("flat | keep code app"), {}).error().code == ErrorCode::invalid);
  CHECK(select(profile, *parse_view_spec("flat | keep code /app/"), {}).error().code == ErrorCode::invalid);
}
