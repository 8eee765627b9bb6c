// The laws of diffs: each side, the change and the widths that are a function of both, evaluated by path,
// whatever contexts are one path, against brute force.
#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "core/view/match_functions.h"
#include "core/view/selection.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

using Values = std::map<oracle::Path, std::int64_t>;

std::int64_t of_sides(MetricRole of, std::int64_t before, std::int64_t after) {
  switch (of) {
    case MetricRole::before:
      return before;
    case MetricRole::change:
      return after - before;
    case MetricRole::larger:
      return std::max(std::abs(before), std::abs(after));
    case MetricRole::difference:
      return std::abs(after - before);
    case MetricRole::sum:
    case MetricRole::after:
      break;
  }
  return after;
}

// Self by top-down path, of what passes.
Values selfs_of(const Case& c) {
  ViewSpec spec = c.spec;
  spec.shape = Shape::top_down;
  Values out;
  for (const auto& [path, sums] : oracle::tree_of(c.stacks, spec)) out[path] = sums.self;
  // The oracle leaves out boxes of no width; a root without width may still have a self of 0.
  return out;
}

Values selfs_of_sides(const Case& a, const Case& b, MetricRole of) {
  const Values before = selfs_of(a), after = selfs_of(b);
  Values out;
  const auto at = [](const Values& values, const oracle::Path& path) {
    const auto found = values.find(path);
    return found == values.end() ? 0 : found->second;
  };
  for (const Values* values : {&before, &after})
    for (const auto& entry : *values)
      out[entry.first] = of_sides(of, at(before, entry.first), at(after, entry.first));
  return out;
}

// In a shape, when each path is a stack with that value.
SumsByPath sums_of(const Values& selfs, Shape shape) {
  SumsByPath out;
  for (const auto& [stack, value] : selfs) {
    oracle::Path path = stack;
    if (shape == Shape::bottom_up) std::reverse(path.begin(), path.end());
    for (std::size_t n = 0; n <= path.size(); ++n)
      out[oracle::Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n))].total += value;
    out[path].self += value;
  }
  drop_zeros(out);
  return out;
}

std::string check(const Case& c, MetricRole of) {
  Case a = c, b = another_run(c);
  a.fractional = b.fractional = false;

  const ProfilePtr of_a = build(a), of_b = build(b);
  const auto before = select(of_a, a.spec, {}), after = select(of_b, b.spec, {});
  if (!before || !after) return "";  // a filter that one of them cannot take
  const auto diff = composed(Composed::diff, std::vector{of_a, of_b});
  if (!diff) return diff.error().message;
  // As composed, and as it is opened: with values by path.
  SerialExecutor serial;
  const auto opened = with_matching(*diff, {}, serial, {});
  if (!opened) return opened.error().message;
  ViewSpec spec = a.spec;
  spec.metric = metric_name(of_a->metrics()[0].name, of);
  const Values selfs = selfs_of_sides(a, b, of);
  for (const ProfilePtr& profile : {*diff, *opened}) {
    const auto selection = select(profile, spec, {});
    if (!selection) return selection.error().message;
    for (const Shape shape : {Shape::top_down, Shape::bottom_up})
      if (auto wrong = difference(sums_by_path(**selection, shape), sums_of(selfs, shape)); !wrong.empty())
        return fmt::format("{}{}: {}", profile == *opened ? "opened, " : "", to_text(shape), wrong);
  }
  return "";
}

// The totals of the profile that is opened are those of its views by function.
std::string check_totals(const Case& c, MetricRole of) {
  Case a = c, b = another_run(c);
  a.fractional = b.fractional = false;
  const auto diff = composed(Composed::diff, std::vector{build(a), build(b)});
  if (!diff) return diff.error().message;
  SerialExecutor serial;
  const auto opened = with_matching(*diff, {}, serial, {});
  if (!opened) return opened.error().message;
  ViewSpec spec;
  spec.metric = metric_name(build(a)->metrics()[0].name, of);
  const auto selection = select(*diff, spec, {});
  if (!selection) return selection.error().message;
  const Value expected = (*selection)->sums->total,
              found = (*opened)->total(*(*opened)->find_metric(spec.metric));
  return expected == found ? "" : "another total";
}

void without_addresses(Case& c) {
  Rng rng(c.seed);
  while (c.spec.granularity == Granularity::address) c.spec = random_spec(rng, c.with_samples);
  c.fractional = false;
}

}  // namespace

TEST_CASE("law: a diff has what each side has, in every shape and filter") {
  check_law([](const Case& c) { return check(c, MetricRole::before) + check(c, MetricRole::after); },
            without_addresses);
}
TEST_CASE("law: a diff has the change of every box, in every shape and filter") {
  check_law([](const Case& c) { return check(c, MetricRole::change); }, without_addresses);
}
TEST_CASE("law: widths that are the larger side are so by path, in every shape and filter") {
  check_law([](const Case& c) { return check(c, MetricRole::larger); }, without_addresses);
}
TEST_CASE("law: a diff that is opened has the totals of its views by function") {
  check_law(
      [](const Case& c) {
        return check_totals(c, MetricRole::larger) + check_totals(c, MetricRole::difference);
      },
      without_addresses);
}
TEST_CASE("law: widths that are the change are so by path, in every shape and filter") {
  check_law([](const Case& c) { return check(c, MetricRole::difference); }, without_addresses);
}
