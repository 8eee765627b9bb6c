// The laws of series: what an aggregate says an input has of a box is what the input's own view has there.
#include <cstdlib>

#include <fmt/format.h>

#include "core/view/selection.h"
#include "core/view/series.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// Whole, and positive: what cancels out over the inputs has no box in the aggregate.
Case positive(Case c) {
  for (PlainStack& stack : c.stacks) stack.value = std::abs(stack.value);
  c.fractional = false;
  return c;
}

// Of every box of the aggregate, what the inputs have by themselves.
std::string check_shape(std::span<const Case> cases, const Selection& selection, Shape shape,
                        const std::vector<Key>& focus) {
  const auto layout = whole_layout(selection, shape, focus);
  if (!layout) return layout.error().message;
  if (layout->truncated) return "";
  const auto series = series_of_boxes(selection, 0, shape, focus, {layout->parent, layout->key}, 0, {});
  if (!series) return series.error().message;
  const std::vector<oracle::Path> paths = paths_of(selection, *layout);
  for (std::size_t input = 0; input < cases.size(); ++input) {
    SumsByPath found;
    for (std::size_t box = 0; box < paths.size(); ++box) {
      found[paths[box]].total += static_cast<std::int64_t>(series->total_of(box)[input]);
      found[paths[box]].self += static_cast<std::int64_t>(series->self_of(box)[input]);
    }
    drop_zeros(found);
    const SumsByPath expected = sums_by_path(cases[input].stacks, cases[input].spec, shape);
    if (auto wrong = difference(found, expected); !wrong.empty())
      return fmt::format("{} of input {}: {}", to_text(shape), input, wrong);
  }
  return "";
}

std::string check(const Case& c) {
  const std::vector cases{positive(c), positive(another_run(c))};
  std::vector<ProfilePtr> inputs;
  for (const Case& input : cases) {
    inputs.push_back(build(input));
    if (!select(inputs.back(), c.spec, {})) return "";  // a filter that it cannot take
  }
  const auto aggregate = composed(Composed::aggregate, inputs);
  if (!aggregate) return aggregate.error().message;
  const auto selection = select(*aggregate, c.spec, {});
  if (!selection) return selection.error().message;
  for (const Shape shape : {Shape::top_down, Shape::bottom_up})
    if (auto wrong = check_shape(cases, **selection, shape, {}); !wrong.empty()) return wrong;
  const std::vector<Key> focus = focus_keys(**selection, c.spec);
  if (focus.empty()) return "";
  for (const Shape shape : {Shape::callers, Shape::callees})
    if (auto wrong = check_shape(cases, **selection, shape, focus); !wrong.empty()) return wrong;
  return "";
}

void plain_filters(Case& c) {
  Rng rng(c.seed);
  const auto needs_samples = [&] {
    for (const Filter& filter : c.spec.filters)
      if (filters_samples(filter)) return true;
    return c.spec.granularity == Granularity::line || c.spec.granularity == Granularity::address;
  };
  while (needs_samples()) c.spec = random_spec(rng, false);
}

}  // namespace

TEST_CASE("law: an input has of every box what its own view has there, in every shape and filter") {
  check_law(check, plain_filters);
}
