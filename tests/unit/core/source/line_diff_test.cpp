#include "core/source/line_diff.h"

#include <string_view>

#include "core/support/id.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

constexpr std::uint32_t kNew = kNone;
using Origins = std::vector<std::uint32_t>;

// One character a line.
Origins followed(std::string_view before, std::string_view after) {
  return follow_lines({before.begin(), before.end()}, {after.begin(), after.end()});
}

}  // namespace

TEST_CASE("lines keep their origin through what is put in, taken out and moved") {
  CHECK(followed("abc", "abc") == Origins{0, 1, 2});
  CHECK(followed("abc", "xabc") == Origins{kNew, 0, 1, 2});
  CHECK(followed("abcd", "ad") == Origins{0, 3});
  CHECK(followed("abcd", "aXYcd") == Origins{0, 1, kNew, 2, 3});
  CHECK(followed("", "ab") == Origins{kNew, kNew});
  CHECK(followed("ab", "").empty());
}

TEST_CASE("changed lines between kept ones are paired from the top") {
  CHECK(followed("abc", "aXc") == Origins{0, 1, 2});
  CHECK(followed("}a}b}", "}x}a}b}") == Origins{0, kNew, kNew, 1, 2, 3, 4});
}

TEST_CASE("texts of one repeated line end") {
  const std::vector<std::uint64_t> many(100'000, 7), more(150'000, 7);
  const Origins all = follow_lines(many, more);
  CHECK(all.front() == 0);
  CHECK(all.size() == 150'000);
}
