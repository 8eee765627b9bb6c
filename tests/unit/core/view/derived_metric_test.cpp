#include "core/view/derived_metric.h"

#include "core/model/profile.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kCounters =
    "# metrics: cycles/count instructions/count time/nanoseconds space/bytes\nmain;f 3 2 10 100\n";

std::string refused(const Profile& profile, const DerivedMetric& metric) {
  const auto derived = derive_metric(profile, metric);
  REQUIRE_FALSE(derived);
  return derived.error().message;
}

}  // namespace

TEST_CASE("a metric by formula is one of the profile's metrics", "[derived]") {
  const ProfilePtr profile = profile_from_text(kCounters);
  const auto cpi = derive_metric(*profile, {"cpi", "cycles / instructions", ""});
  REQUIRE(cpi);
  CHECK(cpi->measure.metrics == std::vector<std::string>{"cycles", "instructions"});
  CHECK_FALSE(cpi->measure.additive);
  CHECK_FALSE(cpi->before);
  CHECK(refused(*profile, {"x", "time + space", ""}) ==
        "nanoseconds and bytes are of two units and have no sum at character 6 of the formula");
  CHECK(refused(*profile, {"x", "cycles / instruction", ""}).find("did you mean instructions?") !=
        std::string::npos);
  CHECK(refused(*profile, {"x", "2 * 3", ""}) == "2 * 3 is the same everywhere: the formula names no metric");
  CHECK(refused(*profile, {"cycles", "time", ""}) ==
        "the profile has a metric cycles already; another name is needed");
  CHECK(refused(*profile, {"", "time", ""}) == "the name of a derived metric has 1 to 100 bytes of text");
  CHECK(refused(*profile, {"a\nb", "time", ""}) == "the name of a derived metric has 1 to 100 bytes of text");
  CHECK(refused(*profile, {"a", "time", std::string(101, 'u')}) == "a unit has at most 100 bytes of text");
}

TEST_CASE("a definition as text has a name and a formula", "[derived]") {
  CHECK(parse_derived_metric("cpi=cycles / instructions") ==
        DerivedMetric{"cpi", "cycles / instructions", ""});
  CHECK(parse_derived_metric(" cpi = cycles ") == DerivedMetric{"cpi", "cycles", ""});
  CHECK(parse_derived_metric("cycles / instructions").error().message ==
        "\"cycles / instructions\" is no derived metric: NAME=FORMULA, as in cpi='cycles / instructions'");
  // What is no formula is told without a profile.
  CHECK(parse_derived_metric("x=(cycles").error().message ==
        "the bracket is not closed at character 1 of the formula");
  CHECK(parse_derived_metric("x=").error().offset == 0);
}

TEST_CASE("definitions that do not fit a profile are kept with the reason", "[derived]") {
  const ProfilePtr profile = profile_from_text("# metrics: cycles/count\nmain 3\n");
  const DerivedMetrics derived = derive_metrics(
      *profile, {{"cpi", "cycles / instructions", ""}, {"k", "cycles / 1000", ""}, {"k", "cycles", ""}});
  REQUIRE(derived.known.size() == 1);
  CHECK(derived.find("k")->metric.formula == "cycles / 1000");
  CHECK(derived.find("cpi") == nullptr);
  REQUIRE(derived.unfit.size() == 1);
  CHECK(derived.unfit[0].why.starts_with("there is no metric instructions at character 10 of the formula"));
}

TEST_CASE("in a diff a formula of the side after has one of the side before", "[derived]") {
  const ProfilePtr diff = composed(Composed::diff, {kCounters, kCounters}).value();
  const auto cpi = derive_metric(*diff, {"cpi", "cycles / instructions", ""});
  REQUIRE(cpi);
  REQUIRE(cpi->before);
  CHECK(cpi->before->metrics == std::vector<std::string>{"cycles before", "instructions before"});
  const auto ratio = derive_metric(*diff, {"ratio", "cycles / \"cycles before\"", ""});
  REQUIRE(ratio);
  CHECK_FALSE(ratio->before);
}
