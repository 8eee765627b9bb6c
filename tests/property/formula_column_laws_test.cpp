// A formula that adds up is a metric like any other: a view of it is the view of a profile whose stacks have
// what the formula makes of their values, in every shape and under every filter.
#include <fmt/format.h>

#include "core/view/derived_metric.h"
#include "core/view/formula_columns.h"
#include "core/view/selection.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/two_metrics.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr with_rest(const Case& c) {
  const ProfilePtr profile = with_two_metrics(c);
  const ProfileMeasure rest = derive_metric(*profile, {"rest", "2 * second - first", ""}).value();
  return with_formula_columns(profile, std::span(&rest, 1));
}

std::vector<PlainStack> rest_of(const Case& c) {
  std::vector<PlainStack> stacks = second_metric(c);
  const std::vector<PlainStack> first = first_metric(c);
  for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i].value = 2 * stacks[i].value - first[i].value;
  return stacks;
}

std::string compare_formula_view(const Case& c, Shape shape) {
  if (c.with_samples && c.stacks.empty()) return "";
  ViewSpec spec = c.spec;
  spec.shape = shape;
  spec.focus.clear();
  spec.metric = "rest";
  const auto selection = select(with_rest(c), spec, {});
  if (!selection) return selection.error().message;
  SumsByPath expected = sums_by_path(rest_of(c), spec, shape);
  drop_zeros(expected);
  SumsByPath found = sums_by_path(**selection, shape, c.fractional ? 4 : 1);
  drop_zeros(found);
  return difference(found, expected);
}

}  // namespace

TEST_CASE("law: a view of a formula that adds up is that of stacks with its values, top-down") {
  check_law([](const Case& c) { return compare_formula_view(c, Shape::top_down); });
}
TEST_CASE("law: a view of a formula that adds up is that of stacks with its values, bottom-up") {
  check_law([](const Case& c) { return compare_formula_view(c, Shape::bottom_up); });
}

TEST_CASE("law: with a formula as a metric all other metrics are what they were") {
  check_law([](const Case& c) -> std::string {
    const ProfilePtr plain = with_two_metrics(c), more = with_rest(c);
    if (more->metrics().size() != 3 || more->total(MetricId{0u}) != plain->total(MetricId{0u}) ||
        more->total(MetricId{1u}) != plain->total(MetricId{1u}))
      return "the first metrics are others";
    const double expected = 2 * as_double(plain->total(MetricId{1u})) - as_double(plain->total(MetricId{0u}));
    return as_double(more->total(MetricId{2u})) == expected
               ? ""
               : fmt::format("the total is {}, not {}", as_double(more->total(MetricId{2u})), expected);
  });
}
