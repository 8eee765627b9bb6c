// The laws of widths that are a function of two profiles: evaluated by path, whatever contexts are one path,
// against brute force.
#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "core/view/of_two.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

using Values = std::map<oracle::Path, std::int64_t>;

std::int64_t of_two(OfTwo of, std::int64_t before, std::int64_t after) {
  return of == OfTwo::most ? std::max(std::abs(before), std::abs(after)) : std::abs(after - before);
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

Values selfs_of_two(const Case& a, const Case& b, OfTwo of) {
  const Values before = selfs_of(a), after = selfs_of(b);
  Values out;
  const auto at = [](const Values& values, const oracle::Path& path) {
    const auto found = values.find(path);
    return found == values.end() ? 0 : found->second;
  };
  for (const Values* values : {&before, &after})
    for (const auto& entry : *values)
      out[entry.first] = of_two(of, at(before, entry.first), at(after, entry.first));
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

std::string check(const Case& c, OfTwo of) {
  Case a = c, b = another_run(c);
  a.fractional = b.fractional = false;

  const ProfilePtr of_a = build(a), of_b = build(b);
  const auto before = select(of_a, a.spec, {}), after = select(of_b, b.spec, {});
  if (!before || !after) return "";  // a filter that one of them cannot take
  Merging merging;
  if (!merging.add(*of_a, true, {}) || !merging.add(*of_b, true, {})) return "add fails";
  SerialExecutor serial;
  const auto merged = std::move(merging).finish(serial, {});
  ViewSpec boxes_alone = a.spec;
  std::erase_if(boxes_alone.filters,
                [](const Filter& f) { return f.op == FilterOp::keep || f.op == FilterOp::drop; });
  const auto plain = select(merged->profile, boxes_alone, {});
  if (!plain) return plain.error().message;
  const auto keys = joined_keys(*merged->profile, (*plain)->boxes->keys, merged->frames_of);
  const auto boxes = boxes_with_keys(*(*plain)->boxes, keys, {});
  TwoSides sides;
  sides.merged = &*merged;
  sides.before = *before;
  sides.after = *after;
  const auto selection = select_of_two(sides, *boxes, of, {});
  if (!selection) return selection.error().message;
  const Values selfs = selfs_of_two(a, b, of);
  for (const Shape shape : {Shape::top_down, Shape::bottom_up})
    if (auto wrong = difference(sums_by_path(**selection, shape), sums_of(selfs, shape)); !wrong.empty())
      return fmt::format("{}: {}", to_text(shape), wrong);
  return "";
}

void without_lines(Case& c) {
  Rng rng(c.seed);
  while (c.spec.granularity == Granularity::line || c.spec.granularity == Granularity::address)
    c.spec = random_spec(rng, c.with_samples);
  c.fractional = false;
}

}  // namespace

TEST_CASE("law: widths that are the larger side are so by path, in every shape and filter") {
  check_law([](const Case& c) { return check(c, OfTwo::most); }, without_lines);
}
TEST_CASE("law: widths that are the change are so by path, in every shape and filter") {
  check_law([](const Case& c) { return check(c, OfTwo::change); }, without_lines);
}
