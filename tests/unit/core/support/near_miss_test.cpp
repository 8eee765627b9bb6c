#include "core/support/near_miss.h"

#include <array>

#include "tests/support/catch.h"

using namespace profd;

namespace {
constexpr std::array<std::string_view, 5> kWords = {"summary", "top", "tree", "flame", "bottom-up"};
}

TEST_CASE("a slip of the fingers is told from another word") {
  CHECK(near_miss("tpo", kWords) == "top");
  CHECK(near_miss("TOP", kWords) == "top");
  CHECK(near_miss("fame", kWords) == "flame");
  CHECK(near_miss("sumary", kWords) == "summary");
  CHECK(near_miss("bottom", kWords) == "bottom-up");
  CHECK(near_miss("cpu.pprof", kWords).empty());
  CHECK(near_miss("x", kWords).empty());
  CHECK(near_miss("", kWords).empty());
  CHECK(near_miss(std::string(100'000, 't'), kWords).empty());
}

TEST_CASE("what several words begin with means none of them") {
  CHECK(near_miss("t", kWords).empty());
  CHECK(did_you_mean("t", kWords).empty());
  CHECK(did_you_mean("tre", kWords) == " (did you mean tree?)");
}
