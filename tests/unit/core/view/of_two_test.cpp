// Widths of two profiles at once.
#include "core/view/of_two.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

Result<SelectionPtr> of_two(std::string_view before, std::string_view after, OfTwo of,
                            std::string_view spec = "top-down", double scale = 1) {
  const ProfilePtr a = profile_from_text(before), b = profile_from_text(after);
  Merging merging;
  REQUIRE(merging.add(*a, true, {}));
  REQUIRE(merging.add(*b, true, {}));
  SerialExecutor serial;
  const Merged merged = std::move(merging).finish(serial, {}).value();
  const ViewSpec how = parse_view_spec(spec).value();
  TwoSides sides;
  sides.merged = &merged;
  sides.before = select(a, how, {}).value();
  sides.after = select(b, how, {}).value();
  sides.scale = scale;
  return select_of_two(sides, select(merged.profile, how, {}).value()->boxes, of, {});
}

}  // namespace

TEST_CASE("recursion of another depth is no change once it is collapsed") {
  constexpr std::string_view kBefore = "main;f;f;f 20\n", kAfter = "main;f;f 20\n";
  CHECK(of_two(kBefore, kAfter, OfTwo::change).value()->sums->total == Value{40L});
  CHECK(of_two(kBefore, kAfter, OfTwo::change, "top-down | collapse recursion").value()->sums->total ==
        Value{0L});
  CHECK(of_two(kBefore, kAfter, OfTwo::most, "top-down | collapse recursion").value()->sums->total ==
        Value{20L});
}

TEST_CASE("a function with a negative value that goes keeps its width") {
  CHECK(of_two("main;freed -5\nmain 1\n", "main 1\n", OfTwo::most).value()->sums->total == Value{6L});
}

TEST_CASE("scale multiplies the sum of a path, not its parts") {
  // 3 contexts of 1 each, halved: 1.5, rounded once.
  CHECK(of_two("main;f[a.c:1] 1\nmain;f[a.c:2] 1\nmain;f[a.c:3] 1\n", "main;f 0\nmain 1", OfTwo::most,
               "top-down", 0.5)
            .value()
            ->sums->total == Value{3L});
}

TEST_CASE("a change that does not fit is clamped and says so") {
  const std::string least = "f -" + std::to_string(std::numeric_limits<std::int64_t>::max()) + "\n",
                    most = "f 10\n";
  const SelectionPtr selection = of_two(least, most, OfTwo::change).value();
  CHECK(selection->sums->saturated);
  CHECK(selection->sums->total == Value{std::numeric_limits<std::int64_t>::max()});
}

TEST_CASE("metrics of two units have no widths together") {
  CHECK(
      of_two("# metrics: cpu/nanoseconds\nf 1\n", "# metrics: cpu/bytes\nf 1\n", OfTwo::most).error().code ==
      ErrorCode::invalid);
}
