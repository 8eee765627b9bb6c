// The boxes of one profile, found in another by joint keys, have what brute force finds there at their path.
#include <fmt/format.h>

#include "core/layout/flame.h"
#include "core/view/joint_keys.h"
#include "core/view/values.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string compare(const Case& a, Shape shape) {
  const Case b = another_run(a);
  ViewSpec spec = a.spec;
  spec.shape = shape;
  const auto of_a = select(build(a), spec, {}), of_b = select(build(b), spec, {});
  if (!of_a) return of_a.error().message;
  if (!of_b) return of_b.error().message;
  const std::vector<KeyedProfile> inputs = {{(*of_a)->profile.get(), (*of_a)->boxes->keys},
                                            {(*of_b)->profile.get(), (*of_b)->boxes->keys}};
  const auto joint = join_keys(inputs);
  const auto in_a = with_keys(*of_a, joint->keys[0], {}), in_b = with_keys(*of_b, joint->keys[1], {});
  const auto layout = whole_layout(**in_a, shape);
  if (!layout) return layout.error().message;
  const std::vector<Key> keys = translate(*joint, 0, 1, layout->key);
  const auto values =
      values_of_boxes(**in_b, shape, {}, {layout->parent, keys}, BoxValuesWanted::totals_and_selves, {});
  if (!values) return values.error().message;
  const oracle::Tree expected = oracle::tree_of(b.stacks, spec);
  const std::vector<oracle::Path> paths = paths_of(**in_a, *layout);
  for (std::size_t i = 0; i < layout->size(); ++i) {
    const auto found = expected.find(paths[i]);
    const oracle::Sums sums = found == expected.end() ? oracle::Sums() : found->second;
    if (units(b, values->total[i]) != sums.total || units(b, values->self[i]) != sums.self)
      return fmt::format("{}: total {} self {}, expected {} {}", show(paths[i]), units(b, values->total[i]),
                         units(b, values->self[i]), sums.total, sums.self);
  }
  return "";
}

}  // namespace

TEST_CASE("law: boxes of a profile are found in another by joint keys, top-down") {
  check_law([](const Case& c) { return compare(c, Shape::top_down); });
}
TEST_CASE("law: boxes of a profile are found in another by joint keys, bottom-up") {
  check_law([](const Case& c) { return compare(c, Shape::bottom_up); });
}
