#include "core/compare/moved_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/catch.h"
#include "tests/support/composed.h"

using namespace profd;
using namespace profd::test;

namespace {

// "a, b -> c" of each, the largest first.
std::string moved(std::string_view before, std::string_view after, std::string_view spec = "flat") {
  const auto diff = composed(Composed::diff, {before, after}).value();
  const SelectionPtr selection = select(diff, parse_view_spec(spec).value(), {}).value();
  const Noise noise = judge_noise(*selection, {}).value();
  const auto names = [&](const std::vector<Key>& keys) {
    std::vector<std::string> out;
    for (const Key key : keys) out.push_back(key_name(*diff, *selection->boxes->keys, key));
    return fmt::format("{}", fmt::join(out, ", "));
  };
  std::string out;
  const MovedCosts found = moved_costs(*selection, noise, {}).value();
  for (const MovedCost& cost : found.costs)
    out += fmt::format("{}{} -> {}", out.empty() ? "" : "; ", names(cost.from), names(cost.to));
  return out;
}

}  // namespace

TEST_CASE("what is taken out of a function into one that it calls has moved") {
  CHECK(moved("main;sum 1200\nmain;read 5000", "main;sum 500\nmain;sum;fold 690\nmain;read 5010") ==
        "sum -> fold");
  CHECK(moved("main;sum 500\nmain;sum;fold 690", "main;sum 1200") == "fold -> sum");
}

TEST_CASE("what one function calls less and another more has moved") {
  CHECK(moved("main;a 1000\nmain;b 1000\nrest 9000", "main;a 400\nmain;b 1610\nrest 9000") == "a -> b");
}

TEST_CASE("what moves to a new function of a class, a file, a module has moved") {
  CHECK(moved("x;T.a 1000\ny 9", "x;T.a 400\ny 9\ny;T.b 610") == "T.a -> T.b");
  CHECK(moved("x;a[f.c:1] 1000\ny 9", "x;a[f.c:1] 400\ny 9\ny;b[f.c:9] 610") == "a -> b");
  CHECK(moved("x;a[module=m] 1000\ny 9", "x;a[module=m] 400\ny 9\ny;b[module=m] 610") == "a -> b");
  CHECK(moved("x;a[module=m] 1000\ny 9", "x;a[module=m] 400\ny 9\ny;b[module=n] 610").empty());
}

TEST_CASE("functions of one file that both were there have changed, each for itself") {
  CHECK(moved("x;a[f.c:1] 1000\ny;b[f.c:9] 1000", "x;a[f.c:1] 400\ny;b[f.c:9] 1610").empty());
  CHECK(moved("x;a[f.c:1] 1000\ny;b[f.c:9] 2000", "x 1\ny;b[f.c:9] 3010").empty());
}

TEST_CASE("what costs more than it saves elsewhere has not moved") {
  CHECK(moved("main;sum 1200", "main;sum 500\nmain;sum;fold 1690").empty());
  CHECK(moved("main;sum 1200", "main;sum 1200\nmain;sum;fold 690").empty());
  CHECK(moved("main;sum 1200\nmain;read 90", "main;sum 1200\nmain;read 90").empty());
}

TEST_CASE("what is told of a smaller group is not told again of a larger one") {
  CHECK(moved("m;sum[f.c:1] 1200\nm;a[f.c:2] 3000\nk 9",
              "m;sum[f.c:1] 500\nm;sum[f.c:1];fold[f.c:9] 690\nm;a[f.c:2] 1800\nk 9\nk;b[f.c:3] 1210") ==
        "a -> b; sum -> fold");
}

TEST_CASE("what cannot be judged has not moved") {
  const auto in_bytes = [](std::string_view text) { return "# metrics: space/bytes\n" + std::string(text); };
  CHECK(moved(in_bytes("main;sum 1200"), in_bytes("main;sum 500\nmain;sum;fold 690")).empty());
}
