// Profiles put together of others: metrics, sides, values.
#include "core/model/compose.h"

#include <limits>

#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr diff_of(std::string_view before, std::string_view after, double scale = 1) {
  std::map<std::string, double> factors;
  if (scale != 1) factors = {{"samples", scale}};
  return composed(Composed::diff, {before, after}, factors).value();
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec) {
  return select(profile, parse_view_spec(spec).value(), {}).value();
}
Value total(const ProfilePtr& profile, std::string_view spec) {
  return selected(profile, spec)->sums->total;
}

}  // namespace

TEST_CASE("a diff has five metrics for every one that both sides have") {
  const ProfilePtr diff = diff_of("main;a 3\nmain;b 5\n", "main;a 7\nmain;c 1\n");
  REQUIRE(diff->metrics().size() == 5);
  CHECK(total(diff, "flat | metric samples") == Value{8L});
  CHECK(total(diff, "flat | metric \"samples before\"") == Value{8L});
  CHECK(total(diff, "flat | metric \"samples change\"") == Value{0L});
  CHECK(total(diff, "flat | metric \"samples larger\"") == Value{13L});
  CHECK(total(diff, "flat | metric \"samples difference\"") == Value{10L});
  CHECK(diff->metrics()[diff->default_metric().v].name == "samples larger");
}

TEST_CASE("what a filter keeps is a share of the whole, for metrics that are no sums too") {
  const ProfilePtr diff = diff_of("main;a 3\nmain;b 5\n", "main;a 7\nmain;c 1\n");
  const SelectionPtr kept = selected(diff, "flat | metric \"samples larger\" | keep function c");
  CHECK(kept->sums->total == Value{1L});
  CHECK(kept->sums->profile_total == Value{13L});
}

TEST_CASE("recursion of another depth is no change once it is collapsed") {
  const ProfilePtr diff = diff_of("main;f;f;f 20\n", "main;f;f 20\n");
  CHECK(total(diff, "top-down | metric \"samples difference\"") == Value{40L});
  CHECK(total(diff, "top-down | metric \"samples difference\" | collapse recursion") == Value{0L});
  CHECK(total(diff, "top-down | metric \"samples larger\" | collapse recursion") == Value{20L});
}

TEST_CASE("a function with a negative value that goes keeps its width") {
  CHECK(total(diff_of("main;freed -5\nmain 1\n", "main 1\n"), "top-down | metric \"samples larger\"") ==
        Value{6L});
}

TEST_CASE("a scale is no rounding: three halves are one and a half") {
  const ProfilePtr diff = diff_of("main;f[a.c:1] 1\nmain;f[a.c:2] 1\nmain;f[a.c:3] 1\n", "main 1", 0.5);
  CHECK(total(diff, "flat | metric \"samples before\"") == Value{1.5});
}

TEST_CASE("a change that does not fit is clamped and says so") {
  const std::string least = "f -" + std::to_string(std::numeric_limits<std::int64_t>::max()) + "\n";
  const ProfilePtr diff = diff_of(least, "f 10\n");
  const SelectionPtr selection = selected(diff, "top-down | metric \"samples difference\"");
  CHECK(selection->sums->saturated);
  CHECK(selection->sums->total == Value{std::numeric_limits<std::int64_t>::max()});
}

TEST_CASE("a side of several runs has their mean") {
  Composing composing(Composed::diff);
  for (const std::string_view text : {"f 4", "f 6"})
    REQUIRE(composing.add(profile_from_text(text), {std::string(text), false, true, {}}, {}));
  REQUIRE(composing.add(profile_from_text("f 2"), {"before", true, true, {}}, {}));
  SerialExecutor serial;
  const ProfilePtr diff = std::move(composing).finish(serial, {}).value();
  CHECK(total(diff, "flat | metric samples") == Value{5.0});
  CHECK(total(diff, "flat | metric \"samples change\"") == Value{3.0});
}

TEST_CASE("threads and times are filtered at the inputs") {
  const ProfilePtr diff = diff_of("main;a 3 {thread=x}\nmain;a 5 {thread=y}\n", "main;a 4 {thread=x}\n");
  CHECK(total(diff, "flat | metric \"samples change\" | keep thread x") == Value{1L});
  CHECK(total(diff, "flat | metric \"samples difference\" | keep thread y") == Value{5L});
  CHECK(total(diff, "flat | metric \"samples larger\" | keep thread x | keep function a") == Value{4L});
  const auto none = select(diff_of("main 1", "main 2"), parse_view_spec("flat | keep thread x").value(), {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::invalid);
}

TEST_CASE("metrics that only some inputs have are left out of a diff, and named") {
  const ProfilePtr diff = composed(Composed::diff, {"# metrics: cpu/nanoseconds wall/nanoseconds\nf 1 2\n",
                                                    "# metrics: cpu/nanoseconds\nf 4\n"})
                              .value();
  CHECK(diff->metrics().size() == 5);
  CHECK(diff->composition()->left_out == std::vector<std::string>{"wall in nanoseconds"});
  const auto none =
      composed(Composed::diff, {"# metrics: cpu/nanoseconds\nf 1\n", "# metrics: cpu/bytes\nf 1\n"});
  REQUIRE_FALSE(none);
  CHECK(none.error().message ==
        "the profiles have no metric in common: 2 has cpu (bytes); 1 has cpu (nanoseconds)");
}

TEST_CASE("a metric that has another name before is renamed to be compared") {
  Composing composing(Composed::diff);
  REQUIRE(composing.add(profile_from_text("# metrics: cpu/count\nf 3"), {"after", false, false, {}}, {}));
  CHECK(composing.add(profile_from_text("f 1"), {"before", true, false, {{"none", "cpu"}}}, {})
            .error()
            .message == "before has no metric none");
  REQUIRE(composing.add(profile_from_text("f 1"), {"before", true, false, {{"samples", "cpu"}}}, {}));
  SerialExecutor serial;
  const ProfilePtr diff = std::move(composing).finish(serial, {}).value();
  CHECK(total(diff, "flat | metric \"cpu change\"") == Value{2L});
}

TEST_CASE("a join has the metrics of all inputs side by side") {
  const ProfilePtr join = composed(Composed::join, {"# metrics: cpu/nanoseconds\nmain;f 3\n",
                                                    "# metrics: cpu/nanoseconds alloc/bytes\nmain;f 4 100\n"})
                              .value();
  REQUIRE(join->metrics().size() == 3);
  CHECK(join->metrics()[1].name == "cpu (2)");
  CHECK(total(join, "flat | metric alloc") == Value{100L});
  CHECK(total(join, "flat | metric cpu") == Value{3L});
}

TEST_CASE("an aggregate sums whole numbers and fractions as fractions") {
  const ProfilePtr all = composed(Composed::aggregate, {"f 3\n", "# fractional\nf 0.5\n", "f 2\n"}).value();
  CHECK(all->total(MetricId{0u}) == Value{5.5});
}

TEST_CASE("values that cancel out are kept by input, and are no row of the whole") {
  const ProfilePtr all = composed(Composed::aggregate, {"main;f 3\nmain;g 1\n", "main;f -3\n"}).value();
  CHECK(all->self().contexts.size() == 1);
  CHECK(all->composition()->contexts.size() == 2);
  CHECK(all->composition()->of[0].values.first == std::vector<std::uint32_t>{0, 2, 3});
}

TEST_CASE("sums that do not fit are clamped, and said to be") {
  const std::string most = "f " + std::to_string(std::numeric_limits<std::int64_t>::max()) + "\n";
  const ProfilePtr all = composed(Composed::aggregate, {most, most}).value();
  CHECK(all->metrics()[0].saturated);
  CHECK_FALSE(all->composition()->of[0].values.saturated);  // each input's own fits
}

TEST_CASE("nothing is composed of no profile, and no diff of one side") {
  SerialExecutor serial;
  CHECK(Composing(Composed::aggregate).finish(serial, {}).error().code == ErrorCode::invalid);
  CHECK(composed(Composed::diff, {"f 1"}).error().code == ErrorCode::invalid);
}

TEST_CASE("timelines stay with the inputs, and how much of them is counted") {
  ProfileBuilder builder;
  add_text(builder, "main 5 {thread=a time=10}\n");
  TimelineBuilder& timeline = builder.timeline();
  timeline.add_span({.begin = 1, .end = 2});
  timeline.add_marker({.begin = 1, .end = 1});
  const CounterId counter = timeline.counter({});
  timeline.add_point(counter, 1, 1);
  timeline.add_point(counter, 2, 1);
  timeline.add_task({});
  const ProfilePtr profile = std::move(builder).finish().value();
  const ProfilePtr both =
      composed(Composed::aggregate, std::vector{profile, profile_from_text("main 1\n")}).value();
  CHECK(both->timeline() == nullptr);
  CHECK(both->composition()->n_left == 5);
}
